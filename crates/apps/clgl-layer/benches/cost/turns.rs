//! The programs that take turns when they are told to.

use crate::calls::Raw;
use crate::copies::Copies;
use crate::rig::*;
use crate::{Case, METHODS, Method, TURNS};
use std::time::Instant;

/// An object of both APIs.
struct Subject {
    case: Case,
    method: Method,
    memory: Raw,
    copies: Copies,
}

impl Subject {
    fn new(program: &Program, case: Case, method: Method) -> Self {
        let Case { is_texture, size, flags } = case;
        let name = if is_texture { texture_of(size, 100) } else { buffer_of(&ramp(size.0 * size.1 * 4, 1)) };
        let copies = Copies::new(name, case);
        let memory = match method {
            Method::Layer if is_texture => program.texture(flags, TEXTURE_2D, 0, name).expect("a texture"),
            Method::Layer => program.buffer(flags, name).expect("a buffer"),
            Method::Mapped | Method::Staged => copies.memory(program),
        };
        Self { case, method, memory, copies }
    }

    fn turn(&mut self, program: &Program) {
        match self.method {
            Method::Layer => {
                right(program.acquire(self.memory));
                program.finish();
                right(program.release(self.memory));
                program.finish();
            }
            Method::Mapped => self.copies.mapped_turn(program, self.memory),
            Method::Staged => self.copies.staged_turn(program, self.memory),
        }
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        release_object(self.memory);
        self.copies.delete();
    }
}

/// Reads orders, and answers each with the microseconds of some turns.
pub fn answer() {
    let (mut program, mut subjects) = (None, Vec::<Subject>::new());
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse::<usize>().expect("a number");
        let case = Case { is_texture: words[1] == "true", size: (number(2), number(3)), flags: number(4) as u64 };
        let (_, method) = *METHODS.iter().find(|(name, _)| *name == words[0]).expect("a method");
        if program.is_none() {
            program = Program::open_with(method == Method::Layer);
        }
        let Some(program) = &program else { return };
        subjects.retain(|subject| subject.case == case);
        let found = subjects.iter().position(|subject| subject.method == method);
        let at = found.unwrap_or_else(|| {
            subjects.push(Subject::new(program, case, method));
            subjects.len() - 1
        });
        let subject = &mut subjects[at];
        // The other program has had the caches.
        subject.turn(program);
        let mut timed = || {
            let start = Instant::now();
            subject.turn(program);
            format!("{:.2}", start.elapsed().as_secs_f64() * 1e6)
        };
        println!("{}", (0..TURNS).map(|_| timed()).collect::<Vec<_>>().join(" "));
    }
}
