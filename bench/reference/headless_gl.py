"""A headless OpenGL 4.6 core context on the EGL device of one CUDA device, and a full-screen draw, by ctypes alone."""

import ctypes as c

EGL_DEVICE_PLATFORM, EGL_CUDA_DEVICE, EGL_OPENGL_API, EGL_NONE = 0x313F, 0x323A, 0x30A2, 0x3038
RGBA, RGBA8, UNSIGNED_BYTE, TEXTURE_2D, NEAREST = 0x1908, 0x8058, 0x1401, 0x0DE1, 0x2600
FRAMEBUFFER, COLOR_ATTACHMENT0, FRAMEBUFFER_COMPLETE = 0x8D40, 0x8CE0, 0x8CD5
PIXEL_UNPACK_BUFFER, STREAM_DRAW = 0x88EC, 0x88E0
VERTEX_SHADER, FRAGMENT_SHADER, LINK_STATUS, TRIANGLES = 0x8B31, 0x8B30, 0x8B82, 0x0004

_U, _I, _P, _S = c.c_uint, c.c_int, c.c_void_p, c.c_ssize_t
_FUNCTIONS = {
    "glGetError": (_U,), "glGetString": (c.c_char_p, _U), "glFinish": (None,), "glFlush": (None,),
    "glViewport": (None, _I, _I, _I, _I), "glDrawArrays": (None, _U, _I, _I),
    "glGenTextures": (None, _I, _P), "glBindTexture": (None, _U, _U),
    "glTexImage2D": (None, _U, _I, _I, _I, _I, _I, _U, _U, _P), "glTexParameteri": (None, _U, _U, _I),
    "glTexSubImage2D": (None, _U, _I, _I, _I, _I, _I, _U, _U, _P),
    "glGenBuffers": (None, _I, _P), "glBindBuffer": (None, _U, _U), "glBufferData": (None, _U, _S, _P, _U),
    "glDeleteBuffers": (None, _I, _P), "glDeleteTextures": (None, _I, _P),
    "glGenFramebuffers": (None, _I, _P), "glBindFramebuffer": (None, _U, _U),
    "glFramebufferTexture2D": (None, _U, _U, _U, _U, _I), "glCheckFramebufferStatus": (_U, _U),
    "glDeleteFramebuffers": (None, _I, _P), "glReadPixels": (None, _I, _I, _I, _I, _U, _U, _P),
    "glGenVertexArrays": (None, _I, _P), "glBindVertexArray": (None, _U),
    "glCreateShader": (_U, _U), "glShaderSource": (None, _U, _I, c.POINTER(c.c_char_p), _P),
    "glCompileShader": (None, _U), "glCreateProgram": (_U,), "glAttachShader": (None, _U, _U),
    "glLinkProgram": (None, _U), "glGetProgramiv": (None, _U, _U, _P), "glUseProgram": (None, _U),
}

_VERTEX = b"""#version 460 core
void main() { gl_Position = vec4(gl_VertexID == 1 ? 3 : -1, gl_VertexID == 2 ? 3 : -1, 0, 1); }
"""
_FRAGMENT = b"""#version 460 core
layout(binding = 0) uniform sampler2D frame;
layout(location = 0) out vec4 colour;
void main() { colour = texelFetch(frame, ivec2(gl_FragCoord.xy), 0); }
"""


class GL:
    """The loaded functions, as attributes without the "gl" prefix. The context is current in the creating thread."""

    def __init__(self, cuda_ordinal=0):
        self._egl = egl = c.CDLL("libEGL.so.1", mode=c.RTLD_GLOBAL)
        egl.eglGetProcAddress.restype = _P
        egl.eglGetProcAddress.argtypes = [c.c_char_p]

        def load(name, result, *arguments):
            address = egl.eglGetProcAddress(name.encode())
            if not address:
                raise RuntimeError(f"the driver has no {name}")
            return c.CFUNCTYPE(result, *arguments)(address)

        devices, count = (_P * 16)(), _I()
        if not load("eglQueryDevicesEXT", _U, _I, _P, _P)(16, devices, c.byref(count)):
            raise RuntimeError("EGL lists no device")
        attribute = load("eglQueryDeviceAttribEXT", _U, _P, _I, _P)
        device, ordinal = None, c.c_ssize_t()
        for candidate in devices[: count.value]:
            if attribute(candidate, EGL_CUDA_DEVICE, c.byref(ordinal)) and ordinal.value == cuda_ordinal:
                device = candidate
        if device is None:
            raise RuntimeError("no EGL device drives this CUDA device")
        display = load("eglGetPlatformDisplayEXT", _P, _U, _P, _P)(EGL_DEVICE_PLATFORM, device, None)
        major, minor, config = _I(), _I(), _P()
        if not load("eglInitialize", _U, _P, _P, _P)(display, c.byref(major), c.byref(minor)):
            raise RuntimeError("eglInitialize failed")
        load("eglBindAPI", _U, _U)(EGL_OPENGL_API)
        wanted = (_I * 5)(0x3033, 0, 0x3040, 0x0008, EGL_NONE)
        load("eglChooseConfig", _U, _P, _P, _P, _I, _P)(display, wanted, c.byref(config), 1, c.byref(count))
        version = (_I * 7)(0x3098, 4, 0x30FB, 6, 0x30FD, 1, EGL_NONE)
        context = load("eglCreateContext", _P, _P, _P, _P, _P)(display, config, None, version)
        if not context or not load("eglMakeCurrent", _U, _P, _P, _P, _P)(display, None, None, context):
            raise RuntimeError("no OpenGL 4.6 core context")
        for name, (result, *arguments) in _FUNCTIONS.items():
            setattr(self, name[2:], load(name, result, *arguments))

    def new(self, what):
        name = _U()
        getattr(self, "Gen" + what)(1, c.byref(name))
        return name.value

    def delete(self, what, name):
        getattr(self, "Delete" + what)(1, c.byref(_U(name)))

    def check(self, what):
        if error := self.GetError():
            raise RuntimeError(f"{what}: GL error 0x{error:04X}")


class Screen:
    """An RGBA8 framebuffer, a texture of the same size, and the draw from one to the other."""

    def __init__(self, gl, width, height):
        self.gl, self.width, self.height = gl, width, height
        gl.BindVertexArray(gl.new("VertexArrays"))
        self._target, self.texture = self._new_texture(), self._new_texture()
        self._framebuffer = gl.new("Framebuffers")
        gl.BindFramebuffer(FRAMEBUFFER, self._framebuffer)
        gl.FramebufferTexture2D(FRAMEBUFFER, COLOR_ATTACHMENT0, TEXTURE_2D, self._target, 0)
        if gl.CheckFramebufferStatus(FRAMEBUFFER) != FRAMEBUFFER_COMPLETE:
            raise RuntimeError("framebuffer incomplete")
        gl.Viewport(0, 0, width, height)
        program = gl.CreateProgram()
        for kind, text in ((VERTEX_SHADER, _VERTEX), (FRAGMENT_SHADER, _FRAGMENT)):
            shader = gl.CreateShader(kind)
            gl.ShaderSource(shader, 1, (c.c_char_p * 1)(text), None)
            gl.CompileShader(shader)
            gl.AttachShader(program, shader)
        gl.LinkProgram(program)
        linked = _I()
        gl.GetProgramiv(program, LINK_STATUS, c.byref(linked))
        if not linked.value:
            raise RuntimeError("program does not link")
        gl.UseProgram(program)
        gl.check("screen")

    def _new_texture(self):
        gl, name = self.gl, self.gl.new("Textures")
        gl.BindTexture(TEXTURE_2D, name)
        gl.TexImage2D(TEXTURE_2D, 0, RGBA8, self.width, self.height, 0, RGBA, UNSIGNED_BYTE, None)
        for filter_of in (0x2800, 0x2801):
            gl.TexParameteri(TEXTURE_2D, filter_of, NEAREST)
        return name

    def draw(self):
        self.gl.BindTexture(TEXTURE_2D, self.texture)
        self.gl.DrawArrays(TRIANGLES, 0, 3)

    def pixels(self):
        out = (c.c_ubyte * (self.width * self.height * 4))()
        self.gl.ReadPixels(0, 0, self.width, self.height, RGBA, UNSIGNED_BYTE, out)
        self.gl.check("glReadPixels")
        return bytes(out)

    def close(self):
        self.gl.delete("Framebuffers", self._framebuffer)
        self.gl.delete("Textures", self._target)
        self.gl.delete("Textures", self.texture)
