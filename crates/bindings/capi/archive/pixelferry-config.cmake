# find_package(pixelferry) defines two targets: pixelferry::pixelferry is the shared library, pixelferry::static the
# static one. Both also work after FetchContent, so they are global.
get_filename_component(_pixelferry_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET pixelferry::pixelferry)
    add_library(pixelferry::pixelferry SHARED IMPORTED GLOBAL)
    set_target_properties(pixelferry::pixelferry PROPERTIES
        IMPORTED_LOCATION "${_pixelferry_prefix}/lib/libpixelferry.so"
        IMPORTED_SONAME "@SONAME@"
        INTERFACE_INCLUDE_DIRECTORIES "${_pixelferry_prefix}/include")
    add_library(pixelferry::static STATIC IMPORTED GLOBAL)
    # A plugin with the static library must stay in the process, because drivers that it started cannot be stopped.
    set_target_properties(pixelferry::static PROPERTIES
        IMPORTED_LOCATION "${_pixelferry_prefix}/lib/libpixelferry.a"
        INTERFACE_INCLUDE_DIRECTORIES "${_pixelferry_prefix}/include"
        INTERFACE_LINK_LIBRARIES "@LIBRARIES@"
        INTERFACE_LINK_OPTIONS "-Wl,-z,nodelete")
endif()
unset(_pixelferry_prefix)
