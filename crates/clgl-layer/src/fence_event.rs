//! Events of fences: `cl_khr_gl_event`.

use crate::cl::handles::OwnEvent;
use crate::codes::INVALID_GL_OBJECT;
use crate::context::SharedContext;
use crate::explain::refuse;
use crate::gl::fence::Fence;
use std::sync::Arc;
use std::time::Duration;

/// How long the thread looks at one fence before it looks at what else there is to do.
const GLANCE: Duration = Duration::from_micros(200);

/// Makes an event that is complete when the fence is passed.
pub fn event_of(context: &Arc<SharedContext>, fence: Fence) -> Result<OwnEvent, i32> {
    if !context.thread().ask(move |work| Ok(fence.is_there(work)))? {
        return Err(refuse(INVALID_GL_OBJECT, "what is said to be a fence of OpenGL's is none"));
    }
    let (given, event) = OwnEvent::user_twice(context.handle)?;
    watch(Arc::clone(context), fence, event)?;
    Ok(given)
}

/// Looks whether the fence is passed, and again after what else waits for the thread.
fn watch(context: Arc<SharedContext>, fence: Fence, event: OwnEvent) -> Result<(), i32> {
    let owner = Arc::clone(&context);
    context.thread().post(move |work| {
        if fence.is_passed(work, GLANCE) {
            event.complete(0);
        } else {
            // Where there is no thread any more there is no job either.
            let _ = watch(owner, fence, event);
        }
    })
}
