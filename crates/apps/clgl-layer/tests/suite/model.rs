//! Random turns beside a model: objects of all sizes and formats come, change and go, and no byte may differ.
//!
//! `PIXELFERRY_TURNS` says how many turns.

use crate::calls::{Raw, call};
use crate::rig::*;
use pixelferry_testing::{Dice, Usage, by_level, wait_until};
use std::ptr;

/// Format in the texture, format and type of its bytes, and bytes of a pixel.
const FORMATS: [(i32, u32, u32, usize); 6] = [
    (0x8058, RGBA, UNSIGNED_BYTE, 4),
    (0x8229, 0x1903, UNSIGNED_BYTE, 1),
    (0x822B, 0x8227, UNSIGNED_BYTE, 2),
    (0x881A, RGBA, 0x140B, 8),
    (0x8814, RGBA, 0x1406, 16),
    (0x8236, 0x8D94, 0x1405, 4),
];
const OBJECTS: usize = 24;
const INVALID_IMAGE_FORMAT_DESCRIPTOR: i32 = -39;

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Buffer(usize),
    Texture(usize, (usize, usize)),
}

impl Shape {
    fn random(dice: &mut Dice) -> Self {
        if dice.below(2) == 0 {
            return Self::Buffer(1 + dice.below(5000));
        }
        Self::Texture(dice.below(FORMATS.len()), (1 + dice.below(40), 1 + dice.below(24)))
    }

    fn bytes(self) -> usize {
        match self {
            Self::Buffer(len) => len,
            Self::Texture(format, (width, height)) => FORMATS[format].3 * width * height,
        }
    }
}

/// The model of an object of OpenGL, and of the one that OpenCL has made of it.
struct Object {
    name: u32,
    shape: Shape,
    content: Vec<u8>,
    is_deleted: bool,
    opened: Option<MemoryObject>,
}

struct MemoryObject {
    memory: Raw,
    flags: u64,
    /// The program may have specified other storage since, and the same again.
    shape: Shape,
    /// What OpenCL sees, in a turn of it.
    acquired: Option<Vec<u8>>,
}

/// What another thread is given.
struct SentTurn<'a>(&'a Program, Raw);

// SAFETY: OpenCL's objects are of all threads.
unsafe impl Send for SentTurn<'_> {}

impl SentTurn<'_> {
    fn acquire(self) -> i32 {
        self.0.acquire(self.1)
    }
}

/// No float of such bytes is a NaN or an infinity.
fn random_bytes(dice: &mut Dice, len: usize) -> Vec<u8> {
    let seed = dice.below(60);
    (0..len).map(|index| ((index * 7 + index / 61 + seed) % 60) as u8).collect()
}

impl Object {
    fn new(dice: &mut Dice) -> Self {
        let shape = Shape::random(dice);
        let name = match shape {
            Shape::Buffer(_) => name_of!("glGenBuffers"),
            Shape::Texture(..) => name_of!("glGenTextures"),
        };
        let mut object = Self { name, shape, content: Vec::new(), is_deleted: false, opened: None };
        object.specify(dice, shape);
        object
    }

    fn bind(&self) {
        match self.shape {
            Shape::Buffer(_) => call!(gl_address "glBindBuffer"(u32, u32); ARRAY_BUFFER, self.name),
            Shape::Texture(..) => bind_texture(TEXTURE_2D, self.name),
        }
    }

    /// Specifies storage with new content, as programs do with each frame.
    fn specify(&mut self, dice: &mut Dice, shape: Shape) {
        self.bind();
        self.content = random_bytes(dice, shape.bytes());
        match shape {
            Shape::Buffer(_) => buffer_data(&self.content),
            Shape::Texture(format, (width, height)) => {
                let (internal, format, kind, _) = FORMATS[format];
                call!(gl_address "glTexImage2D"(u32, i32, i32, i32, i32, i32, u32, u32, *const u8);
                    TEXTURE_2D, 0, internal, width as i32, height as i32, 0, format, kind, self.content.as_ptr());
                call!(gl_address "glTexParameteri"(u32, u32, i32); TEXTURE_2D, 0x2801, 0x2600);
            }
        }
        self.shape = shape;
    }

    /// Specifies storage of another size.
    fn specify_other(&mut self, dice: &mut Dice) {
        let is_like = |shape: &Shape| matches!(shape, Shape::Buffer(_)) == matches!(self.shape, Shape::Buffer(_));
        let shape = std::iter::repeat_with(|| Shape::random(dice)).find(is_like).unwrap();
        self.specify(dice, shape);
    }

    /// Compares what OpenGL has with the model.
    fn check(&self) {
        if self.is_deleted {
            return;
        }
        self.bind();
        let mut seen = vec![0; self.content.len()];
        match self.shape {
            Shape::Buffer(_) => get_buffer(&mut seen),
            Shape::Texture(format, _) => {
                let (_, format, kind, _) = FORMATS[format];
                call!(gl_address "glGetTexImage"(u32, i32, u32, u32, *mut u8); TEXTURE_2D, 0, format, kind, seen.as_mut_ptr());
            }
        }
        assert!(seen == self.content, "OpenGL has other bytes");
    }

    fn open(&mut self, program: &Program, dice: &mut Dice) {
        let flags = *dice.pick(&[READ_WRITE, READ_ONLY, WRITE_ONLY]);
        let memory = match self.shape {
            Shape::Buffer(_) => program.buffer(flags, self.name),
            Shape::Texture(..) => program.texture(flags, TEXTURE_2D, 0, self.name),
        };
        // PoCL has no images of some formats.
        let is_lacking = memory == Err(INVALID_IMAGE_FORMAT_DESCRIPTOR) && matches!(self.shape, Shape::Texture(2, _));
        assert!(memory.is_ok() || is_lacking, "{memory:?}");
        self.opened = memory.ok().map(|memory| MemoryObject { memory, flags, shape: self.shape, acquired: None });
    }

    fn acquire(&mut self, program: &Program, dice: &mut Dice) {
        let (shape, content) = (self.shape, self.content.clone());
        let opened = self.opened.as_mut().unwrap();
        if opened.shape != shape {
            return assert_eq!(program.acquire(opened.memory), INVALID_GL_OBJECT);
        }
        match dice.below(12) {
            0 => {
                let mut code = 0;
                let user = call!(cl_address "clCreateUserEvent"(Raw, *mut i32) -> Raw; program.context, &raw mut code);
                right(code);
                right(program.acquire_after(opened.memory, &[user], ptr::null_mut()));
                right(call!(cl_address "clSetUserEventStatus"(Raw, i32) -> i32; user, 0));
                right(call!(cl_address "clReleaseEvent"(Raw) -> i32; user));
                program.finish();
            }
            1 => {
                call!(gl_address "glFinish"(););
                let sent = SentTurn(program, opened.memory);
                std::thread::scope(|scope| scope.spawn(move || right(sent.acquire())).join()).unwrap();
            }
            _ => right(program.acquire(opened.memory)),
        }
        let mut seen = vec![0; content.len()];
        match shape {
            Shape::Buffer(_) => program.read_buffer(opened.memory, &mut seen),
            Shape::Texture(_, (width, height)) => program.read_image(opened.memory, [width, height, 1], &mut seen),
        }
        assert!(seen == content, "OpenCL sees other bytes");
        opened.acquired = Some(content);
    }

    fn write(&mut self, program: &Program, dice: &mut Dice) {
        let (shape, opened) = (self.shape, self.opened.as_mut().unwrap());
        let bytes = random_bytes(dice, shape.bytes());
        match shape {
            Shape::Buffer(_) => program.write_buffer(opened.memory, &bytes),
            Shape::Texture(_, (width, height)) => program.write_image(opened.memory, [width, height, 1], &bytes),
        }
        opened.acquired = Some(bytes);
    }

    fn release(&mut self, program: &Program) {
        let opened = self.opened.as_mut().unwrap();
        right(program.release(opened.memory));
        let written = opened.acquired.take().unwrap();
        if opened.flags != READ_ONLY {
            self.content = written;
        }
        self.check();
    }

    fn delete(&mut self) {
        match self.shape {
            Shape::Buffer(_) => call!(gl_address "glDeleteBuffers"(i32, *const u32); 1, &raw const self.name),
            Shape::Texture(..) => call!(gl_address "glDeleteTextures"(i32, *const u32); 1, &raw const self.name),
        }
        self.is_deleted = true;
    }

    /// Returns whether there is nothing left of it.
    fn close(&mut self) -> bool {
        let opened = self.opened.take().unwrap();
        release_object(opened.memory);
        self.is_deleted
    }
}

/// Does one thing with an object; returns whether that was a turn, and whether the object is gone.
fn step(object: &mut Object, program: &Program, dice: &mut Dice) -> (bool, bool) {
    let chance = dice.below(16);
    match &object.opened {
        None if chance == 0 => {
            object.delete();
            return (false, true);
        }
        None if chance < 4 => object.specify_other(dice),
        None => object.open(program, dice),
        Some(opened) if opened.acquired.is_some() => {
            if chance < 6 && opened.flags != READ_ONLY {
                object.write(program, dice);
            } else {
                object.release(program);
                return (true, false);
            }
        }
        Some(_) if chance == 0 => return (false, object.close()),
        Some(_) if chance == 1 && !object.is_deleted => object.specify_other(dice),
        Some(_) if chance == 2 && !object.is_deleted => object.delete(),
        Some(opened) if opened.shape != object.shape && chance < 12 => return (false, object.close()),
        Some(_) if chance < 6 && !object.is_deleted => object.specify(dice, object.shape),
        Some(_) => object.acquire(program, dice),
    }
    (false, false)
}

#[test]
#[ignore = "a child"]
fn child_model() {
    let Some(program) = Program::open() else { return println!("ALL DONE") };
    let most = std::env::var("PIXELFERRY_TURNS").map_or(by_level(300, 2000, 10_000), |turns| turns.parse().unwrap());
    let mut dice = Dice(7);
    call!(gl_address "glPixelStorei"(u32, i32); 0x0CF5, 1);
    call!(gl_address "glPixelStorei"(u32, i32); 0x0D05, 1);
    let mut objects: Vec<Object> = Vec::new();
    let (mut turns, mut half) = (0, None);
    while turns < most {
        if objects.len() < OBJECTS {
            objects.push(Object::new(&mut dice));
        }
        let at = dice.below(objects.len());
        let (was_turn, is_gone) = step(&mut objects[at], &program, &mut dice);
        turns += usize::from(was_turn);
        if is_gone {
            objects.swap_remove(at);
        }
        assert_eq!(program.gl.error(), 0, "after {turns} turns");
        if turns == most / 2 && half.is_none() {
            half = Some(Usage::here().unwrap());
        }
    }
    for object in &mut objects {
        if object.opened.as_ref().is_some_and(|opened| opened.acquired.is_some()) {
            object.release(&program);
        }
        if object.opened.is_some() {
            object.close();
        }
        object.check();
    }
    let half = half.unwrap();
    wait_until("threads and descriptors as in the middle of the run", || {
        let now = Usage::here().unwrap();
        now.threads <= half.threads && now.descriptors <= half.descriptors
    });
    let now = Usage::here().unwrap();
    println!("{turns} turns: {half:?} -> {now:?}");
    assert!(now.rss <= half.rss + (48 << 20), "memory grows");
    println!("ALL DONE");
}
