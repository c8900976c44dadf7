//! Content of an X server's screen, what its user does, and the resources that it keeps.

use std::collections::BTreeMap;
use std::error::Error;
use x11rb::connection::Connection as _;
use x11rb::protocol::res::ConnectionExt as _;
use x11rb::protocol::xproto::{
    BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ConnectionExt as _, ImageFormat, ImageOrder, InputFocus, KEY_PRESS_EVENT,
    KEY_RELEASE_EVENT, MOTION_NOTIFY_EVENT,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::RustConnection;

/// Red, green and blue.
pub type Rgb = [u8; 3];

/// Looks at an X server from outside, by a connection of its own.
pub struct Viewer {
    connection: RustConnection,
    root: u32,
}

impl Viewer {
    /// Connects to a server.
    pub fn of(display: &str) -> Result<Self, Box<dyn Error>> {
        let (connection, screen) = x11rb::connect(Some(display))?;
        let setup = connection.setup();
        let screen = setup.roots.get(screen).ok_or("the server has no such screen")?;
        let deep = |format: &&x11rb::protocol::xproto::Format| format.depth == screen.root_depth;
        let bits = setup.pixmap_formats.iter().find(deep).map_or(0, |format| format.bits_per_pixel);
        if (screen.root_depth, bits, setup.image_byte_order) != (24, 32, ImageOrder::LSB_FIRST) {
            return Err(format!("a screen of another kind: {bits} bits, depth {}", screen.root_depth).into());
        }
        let root = screen.root;
        Ok(Self { connection, root })
    }

    /// The rows of a part of the screen, as a monitor would show them.
    pub fn pixels(&self, at: (i16, i16), size: (u16, u16)) -> Result<Vec<Rgb>, Box<dyn Error>> {
        let asked = self.connection.get_image(ImageFormat::Z_PIXMAP, self.root, at.0, at.1, size.0, size.1, !0)?;
        Ok(asked.reply()?.data.chunks_exact(4).map(|pixel| [pixel[2], pixel[1], pixel[0]]).collect())
    }

    /// Moves the pointer to a place of the screen, as its user does.
    pub fn point(&self, at: (i16, i16)) -> Result<(), Box<dyn Error>> {
        self.connection.xtest_fake_input(MOTION_NOTIFY_EVENT, 0, 0, self.root, at.0, at.1, 0)?.check()?;
        Ok(())
    }

    /// Presses a button of the mouse and lets go of it; 4 and 5 are the wheel's.
    pub fn click(&self, button: u8) -> Result<(), Box<dyn Error>> {
        self.fake([BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT], button)
    }

    /// Presses a key and lets go of it, by its code: 9 is Escape.
    pub fn key(&self, code: u8) -> Result<(), Box<dyn Error>> {
        self.fake([KEY_PRESS_EVENT, KEY_RELEASE_EVENT], code)
    }

    /// Presses and releases a key while Shift (50) is held.
    pub fn shifted(&self, code: u8) -> Result<(), Box<dyn Error>> {
        self.fake([KEY_PRESS_EVENT], 50)?;
        self.key(code)?;
        self.fake([KEY_RELEASE_EVENT], 50)
    }

    /// Moves the pointer from place to place with the left button held, as its user does.
    pub fn drag(&self, from: (i16, i16), to: (i16, i16)) -> Result<(), Box<dyn Error>> {
        self.point(from)?;
        self.fake([BUTTON_PRESS_EVENT], 1)?;
        self.point(to)?;
        self.fake([BUTTON_RELEASE_EVENT], 1)
    }

    fn fake<const N: usize>(&self, kinds: [u8; N], detail: u8) -> Result<(), Box<dyn Error>> {
        for kind in kinds {
            self.connection.xtest_fake_input(kind, detail, 0, self.root, 0, 0, 0)?.check()?;
        }
        Ok(())
    }

    /// Gives the keyboard to the window at a place of the screen, where no window manager does.
    pub fn focus(&self, at: (i16, i16)) -> Result<(), Box<dyn Error>> {
        let window = self.connection.translate_coordinates(self.root, self.root, at.0, at.1)?.reply()?.child;
        self.connection.set_input_focus(InputFocus::PARENT, window, 0_u32)?.check()?;
        Ok(())
    }

    /// Returns what all other clients keep in the server: how many there are, how much of each type, and the pixmaps' bytes.
    pub fn kept(&self) -> Result<BTreeMap<String, u64>, Box<dyn Error>> {
        let own = self.connection.setup().resource_id_base;
        let mut kept = BTreeMap::<String, u64>::new();
        let mut add = |what: String, count: u64| *kept.entry(what).or_default() += count;
        for client in self.connection.res_query_clients()?.reply()?.clients {
            if client.resource_base == own {
                continue;
            }
            add("clients".into(), 1);
            for of_type in self.connection.res_query_client_resources(client.resource_base)?.reply()?.types {
                let name = self.connection.get_atom_name(of_type.resource_type)?.reply()?.name;
                add(String::from_utf8_lossy(&name).into_owned(), of_type.count.into());
            }
            let pixmaps = self.connection.res_query_client_pixmap_bytes(client.resource_base)?.reply()?;
            add("bytes of pixmaps".into(), u64::from(pixmaps.bytes) + (u64::from(pixmaps.bytes_overflow) << 32));
        }
        Ok(kept)
    }
}
