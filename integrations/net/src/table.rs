//! The nodes of a network as text.

use pixelferry_net::NodeStatus;

const TITLES: [&str; 11] =
    ["host", "process", "memory", "role", "node", "scene", "messages", "per second", "refused", "codec", "detail"];

/// A row for each task of a node.
pub fn text(nodes: &[NodeStatus]) -> String {
    let mut rows = vec![TITLES.map(String::from)];
    for node in nodes {
        for role in &node.roles {
            let numbers = [role.messages.to_string(), format!("{:.0}", role.per_second), role.refused.to_string()];
            let [messages, rate, refused] = numbers;
            let [role_name, scene, codec, detail] =
                [&role.role, &role.scene, &role.codec, &role.detail].map(|text| plain(text));
            let detail = [&[detail], &trouble(&role.trouble)[..]].concat();
            let detail = detail.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join("; ");
            let (host, process, number) = (plain(&node.host), node.process.to_string(), plain(&role.node));
            // Nodes of one host whose values differ share no memory; the JSON data explains why.
            let memory = plain(&node.memory).chars().take(6).collect();
            let row = [host, process, memory, role_name, number, scene, messages, rate, refused, codec, detail];
            rows.push(row);
        }
    }
    let widths: Vec<usize> =
        (0..TITLES.len()).map(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0)).collect();
    let line = |row: &[String; TITLES.len()]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// Maximum number of problems in a cell.
const MOST: usize = 3;

fn trouble(all: &[String]) -> Vec<String> {
    let more = all.len().saturating_sub(MOST);
    let more = (more > 0).then(|| format!("and {more} more"));
    all.iter().take(MOST).map(|words| plain(words)).chain(more).collect()
}

/// Removes control characters from a remote text, so that it cannot move a terminal's cursor.
fn plain(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(80).collect()
}
