# find_package(pixelferry): the target pixelferry::pixelferry, installed beside this file.
get_filename_component(_pixelferry_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_path(pixelferry_INCLUDE_DIR pixelferry.h HINTS "${_pixelferry_prefix}/include" NO_DEFAULT_PATH)
find_library(pixelferry_LIBRARY pixelferry
    HINTS "${_pixelferry_prefix}" PATH_SUFFIXES lib "lib/${CMAKE_LIBRARY_ARCHITECTURE}" lib64 NO_DEFAULT_PATH)
unset(_pixelferry_prefix)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(pixelferry
    REQUIRED_VARS pixelferry_LIBRARY pixelferry_INCLUDE_DIR VERSION_VAR pixelferry_VERSION)
mark_as_advanced(pixelferry_INCLUDE_DIR pixelferry_LIBRARY)
if(pixelferry_FOUND AND NOT TARGET pixelferry::pixelferry)
    add_library(pixelferry::pixelferry UNKNOWN IMPORTED)
    set_target_properties(pixelferry::pixelferry PROPERTIES
        IMPORTED_LOCATION "${pixelferry_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${pixelferry_INCLUDE_DIR}")
endif()
