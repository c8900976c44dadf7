//! Events of fences: `cl_khr_gl_event`.

use crate::cl::handles::OwnEvent;
use crate::codes::INVALID_GL_OBJECT;
use crate::context::SharedContext;
use crate::explain::refuse;
use crate::gl::fence::Fence;
use std::sync::Arc;
use std::time::Duration;

/// How long the thread waits for one fence before it looks for other work.
const GLANCE: Duration = Duration::from_micros(200);

/// Makes an event that completes when the fence is signalled.
pub fn event_of(context: &Arc<SharedContext>, fence: Fence) -> Result<OwnEvent, i32> {
    if !context.thread().ask(move |work| Ok(fence.is_there(work)))? {
        return Err(refuse(INVALID_GL_OBJECT, "the sync object is not a fence of OpenGL"));
    }
    let (given, event) = OwnEvent::user_twice(context.handle)?;
    watch(Arc::clone(context), fence, event)?;
    Ok(given)
}

/// Checks whether the fence is signalled; if not, checks again after other work of the thread.
fn watch(context: Arc<SharedContext>, fence: Fence, event: OwnEvent) -> Result<(), i32> {
    let owner = Arc::clone(&context);
    context.thread().post(move |work| {
        if fence.is_passed(work, GLANCE) {
            event.complete(0);
        } else {
            // Without the thread, this job does not run either.
            let _ = watch(owner, fence, event);
        }
    })
}
