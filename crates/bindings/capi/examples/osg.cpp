// Frames of OpenCL as a texture in a scene of OpenSceneGraph. The texture belongs to the scene: pixelferry writes each
// frame into it before the scene is drawn.
//
//   c++ -std=c++17 osg.cpp $(pkg-config --cflags --libs pixelferry openscenegraph gl) -o osg && ./osg
//
// `./osg 30` ends after 30 frames and compares every pixel of the window. `./osg 0 cpu` chooses what computes.
#include <osg/Geode>
#include <osg/Geometry>
#include <osg/GraphicsContext>
#include <osg/Texture2D>
#include <osgGA/EventQueue>
#include <osgViewer/Viewer>
#include <pixelferry.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

namespace {

constexpr int WIDTH = 640, HEIGHT = 480;

constexpr char OPENCL_C[] = R"(
__kernel void waves(PF_IMAGE(uchar4, out), int time) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= out_width || y >= out_height) return;
    PF_STORE(out, x, y, (uchar4)(x + time, y, (x ^ y) + time, 255));
}
)";

// The same as a function, for machines without OpenCL: one row of the frame.
std::array<std::uint8_t, 4> wave_at(int x, int y, int time) {
    return {static_cast<std::uint8_t>(x + time), static_cast<std::uint8_t>(y), static_cast<std::uint8_t>((x ^ y) + time),
            255};
}
std::int32_t waves(void *, const pf_pixels *row, const pf_arg *args, std::size_t) {
    auto *pixel = static_cast<std::uint8_t *>(row->data);
    for (int x = 0; x < static_cast<int>(row->width); x++)
        for (auto channel : wave_at(x, static_cast<int>(row->row), args[0].value.i32)) *pixel++ = channel;
    return 0;
}

// Everything of pixelferry's that one context has. The outlet is freed first, and the display last.
struct ferry {
    pixelferry::display display;
    pixelferry::backend backend;
    pixelferry::kernel kernel;
    pixelferry::outlet outlet;
};

std::unique_ptr<ferry> open(osg::State &state, const osg::Texture2D &texture, const char *backend_name) {
    auto source = pixelferry::kernel_source("waves");
    source.opencl_c = OPENCL_C;
    source.host = waves;
    auto display = pixelferry::display::from_current_gl();
    auto backend = pixelferry::backend::open(backend_name, {&source});
    auto kernel = backend.build(source);
    pf_object object{};
    object.size = sizeof object;
    object.kind = PIXELFERRY_OBJECT_GL_TEXTURE;
    object.handle = texture.getTextureObject(state.getContextID())->id();
    object.format = PIXELFERRY_FORMAT_RGBA8;
    object.width = WIDTH, object.height = HEIGHT;
    pixelferry::outlet outlet(backend, display, object);
    return std::make_unique<ferry>(ferry{std::move(display), std::move(backend), std::move(kernel), std::move(outlet)});
}

// OpenSceneGraph calls it on the thread that draws, with the context current, before it draws the scene.
struct before_drawing : osg::Camera::DrawCallback {
    before_drawing(osg::Texture2D *texture, const char *backend_name) : texture(texture), backend_name(backend_name) {}

    void operator()(osg::RenderInfo &info) const override {
        if (failed) return;
        try {
            if (!opened) {
                // The scene creates the texture's storage, which then keeps its size.
                texture->apply(*info.getState());
                opened = open(*info.getState(), *texture, backend_name);
            }
            opened->outlet.frame(
                [&](const pixelferry::frame &next) { next.launch(opened->kernel, {pixelferry::arg(time)}); });
            time++;
        } catch (const pixelferry::error &failure) {
            std::fprintf(stderr, "%s: %s\n", pf_status_name(failure.status()), failure.what());
            failed = true;
        }
    }

    osg::ref_ptr<osg::Texture2D> texture;
    const char *backend_name;
    mutable std::unique_ptr<ferry> opened;
    mutable std::int32_t time = 0;
    mutable bool failed = false;
};

// Compares the drawn window with the function.
struct after_drawing : osg::Camera::DrawCallback {
    void operator()(osg::RenderInfo &) const override {
        if (!compares) return;
        osg::ref_ptr<osg::Image> read = new osg::Image;
        read->readPixels(0, 0, WIDTH, HEIGHT, GL_RGBA, GL_UNSIGNED_BYTE);
        is_right = true;
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                // Row 0 of a window in OpenGL is the bottom row.
                const auto wanted = wave_at(x, HEIGHT - 1 - y, time);
                for (unsigned channel = 0; channel < 3; channel++)
                    is_right = is_right && read->data(x, y)[channel] == wanted[channel];
            }
    }

    std::int32_t time = 0;
    bool compares = false;
    mutable bool is_right = false;
};

osg::ref_ptr<osg::GraphicsContext> make_window() {
    osg::ref_ptr<osg::GraphicsContext::Traits> traits = new osg::GraphicsContext::Traits;
    traits->readDISPLAY();
    traits->x = traits->y = 0;
    traits->width = WIDTH, traits->height = HEIGHT;
    traits->windowDecoration = true;
    traits->doubleBuffer = true;
    traits->windowName = "pixelferry in OpenSceneGraph";
    return osg::GraphicsContext::createGraphicsContext(traits);
}

} // namespace

int main(int argc, char **argv) {
    const int frames_wanted = argc > 1 ? std::atoi(argv[1]) : 0;
    osg::ref_ptr<osg::GraphicsContext> window = make_window();
    if (!window) return std::fprintf(stderr, "no window system\n"), 2;

    osg::ref_ptr<osg::Texture2D> texture = new osg::Texture2D;
    texture->setTextureSize(WIDTH, HEIGHT);
    texture->setInternalFormat(GL_RGBA8);
    texture->setSourceFormat(GL_RGBA);
    texture->setSourceType(GL_UNSIGNED_BYTE);
    texture->setFilter(osg::Texture::MIN_FILTER, osg::Texture::NEAREST);
    texture->setFilter(osg::Texture::MAG_FILTER, osg::Texture::NEAREST);
    texture->setResizeNonPowerOfTwoHint(false);

    // A frame's first row is its top row, so the texture coordinate runs downwards.
    osg::ref_ptr<osg::Geometry> quad = osg::createTexturedQuadGeometry(osg::Vec3(0, 0, 0), osg::Vec3(1, 0, 0),
                                                                       osg::Vec3(0, 1, 0), 0.0f, 1.0f, 1.0f, 0.0f);
    osg::ref_ptr<osg::Geode> scene = new osg::Geode;
    scene->addDrawable(quad);
    scene->getOrCreateStateSet()->setTextureAttributeAndModes(0, texture);
    scene->getOrCreateStateSet()->setMode(GL_LIGHTING, osg::StateAttribute::OFF);

    osg::ref_ptr<before_drawing> before = new before_drawing(texture, argc > 2 ? argv[2] : nullptr);
    osg::ref_ptr<after_drawing> after = new after_drawing;
    osgViewer::Viewer viewer;
    viewer.setThreadingModel(osgViewer::Viewer::SingleThreaded);
    osg::Camera &camera = *viewer.getCamera();
    camera.setGraphicsContext(window);
    camera.setViewport(0, 0, WIDTH, HEIGHT);
    camera.setComputeNearFarMode(osg::CullSettings::DO_NOT_COMPUTE_NEAR_FAR);
    camera.setProjectionMatrixAsOrtho(0, 1, 0, 1, -1, 1);
    camera.setViewMatrix(osg::Matrix::identity());
    camera.setInitialDrawCallback(before);
    camera.setFinalDrawCallback(after);
    viewer.setSceneData(scene);
    viewer.realize();

    for (int frame = 0; !viewer.done() && !before->failed && (frames_wanted == 0 || frame < frames_wanted); frame++) {
        after->time = frame;
        after->compares = frame + 1 == frames_wanted;
        viewer.frame();
    }
    const bool is_right = !before->failed && (frames_wanted == 0 || after->is_right);
    if (is_right && before->opened && frames_wanted > 0)
        std::printf("%d frames, every pixel as computed\n%s\n", frames_wanted, before->opened->outlet.explain().c_str());
    else if (!is_right && !before->failed)
        std::fprintf(stderr, "the window differs from the computed frame\n");
    // What belongs to the context is freed while the context is current. A window that the user closed has none any more.
    if (before->opened && window->isRealized()) window->makeCurrent();
    else if (before->opened) before->opened->display.gl_context_lost();
    before->opened.reset();
    if (window->isRealized()) window->releaseContext();
    return is_right ? 0 : 1;
}
