//! A file that is dragged over a window and dropped: the other side of the protocol XDND.

use libtest_mimic::Failed;
use std::path::Path;
use std::time::{Duration, Instant};
use x11rb::CURRENT_TIME;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    ClientMessageEvent, ConnectionExt as _, CreateWindowAux, EventMask, PropMode,
    SELECTION_NOTIFY_EVENT, SelectionNotifyEvent, WindowClass,
};
use x11rb::wrapper::ConnectionExt as _;

/// How long a window may take to answer.
const PATIENCE: Duration = Duration::from_secs(240);

/// Drops a file on a window; returns when the window has taken it.
pub fn drop_file(display: &str, window: u32, file: &Path) -> Result<(), Failed> {
    let (server, screen) = x11rb::connect(Some(display))?;
    let root = server.setup().roots.get(screen).ok_or("no screen")?.root;
    let source = server.generate_id()?;
    let class = WindowClass::INPUT_ONLY;
    let aux = CreateWindowAux::new();
    server.create_window(0, source, root, 0, 0, 1, 1, 0, class, 0, &aux)?;
    let atom = |name: &str| -> Result<u32, Failed> {
        Ok(server.intern_atom(false, name.as_bytes())?.reply()?.atom)
    };
    let (uris, copy) = (atom("text/uri-list")?, atom("XdndActionCopy")?);
    let finished = atom("XdndFinished")?;
    server.set_selection_owner(source, atom("XdndSelection")?, CURRENT_TIME)?;
    let send = |name: &str, data: [u32; 4]| -> Result<(), Failed> {
        let [a, b, c, d] = data;
        let message = ClientMessageEvent::new(32, window, atom(name)?, [source, a, b, c, d]);
        server.send_event(false, window, EventMask::NO_EVENT, message)?;
        Ok(server.flush()?)
    };
    // The fifth version, one type; somewhere in the picture.
    send("XdndEnter", [5 << 24, uris, 0, 0])?;
    send("XdndPosition", [0, 400 << 16 | 200, CURRENT_TIME, copy])?;
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        match server.poll_for_event()? {
            Some(Event::SelectionRequest(asked)) => {
                let uri = format!("file://{}\r\n", file.display());
                let (to, property) = (asked.requestor, asked.property);
                server.change_property8(PropMode::REPLACE, to, property, uris, uri.as_bytes())?;
                let given = SelectionNotifyEvent {
                    response_type: SELECTION_NOTIFY_EVENT,
                    sequence: 0,
                    time: asked.time,
                    requestor: to,
                    selection: asked.selection,
                    target: asked.target,
                    property,
                };
                server.send_event(false, to, EventMask::NO_EVENT, given)?;
                send("XdndDrop", [0, CURRENT_TIME, 0, 0])?;
            }
            Some(Event::ClientMessage(message)) if message.type_ == finished => return Ok(()),
            Some(_) => {}
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
    Err("the window did not take the file".into())
}
