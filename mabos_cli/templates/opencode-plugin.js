// Written by mabos connect opencode; mabos disconnect opencode removes it.
// Adds relevant memories to each prompt, and records messages where mabos harvest can read them.
{calls}
const isSaid = (part) => part.type === "text" && !part.synthetic && !part.ignored;

// A message as lines of a transcript: texts, calls of tools, and their results.
function linesOf(info, parts) {
  const at = new Date(info.time?.created ?? Date.now()).toISOString();
  const line = (id, message) => JSON.stringify({ type: "message", id, parentId: null, timestamp: at, message }) + "\n";
  const content = [];
  const results = [];
  for (const part of parts) {
    if (isSaid(part)) content.push({ type: "text", text: part.text });
    if (part.type !== "tool" || !part.state) continue;
    content.push({ type: "toolCall", id: part.callID, name: part.tool, arguments: part.state.input ?? {} });
    const failed = part.state.status === "error";
    const text = String((failed ? part.state.error : part.state.output) ?? "");
    const result = { role: "toolResult", toolCallId: part.callID, toolName: part.tool, isError: failed };
    results.push(line(part.id, { ...result, content: [{ type: "text", text }] }));
  }
  return content.length ? [line(info.id, { role: info.role, content }), ...results].join("") : "";
}

// Adds the messages that are not in the transcript yet; one that is still being written waits.
async function keep(client, session, directory) {
  const path = transcript(session);
  let known = "";
  try {
    known = readFileSync(path, "utf8");
  } catch {
    begin(session, directory, new Date());
  }
  const found = await client.session.messages({ path: { id: session } });
  for (const { info, parts } of found.data ?? []) {
    const isWhole = info.role === "user" || info.time?.completed;
    if (isWhole && !known.includes(`"id":"${info.id}"`)) appendFileSync(path, linesOf(info, parts));
  }
}

export const Mabos = async ({ client, directory }) => {
  const started = new Map();
  const tell = async (event, name, session) => {
    try {
      await keep(client, session, directory);
      await mabos(event, about(name, session, directory));
    } catch {
      // A session goes on without its memory.
    }
  };
  return {
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const prompt = parts.filter(isSaid).map((part) => part.text).join("\n");
      const source = started.get(sessionID) ?? "startup";
      started.set(sessionID, "");
      const texts = await Promise.all([
        source ? mabos("session-start", about("session.created", sessionID, directory, { source })) : "",
        prompt ? mabos("user-prompt", about("chat.message", sessionID, directory, { prompt })) : "",
      ]);
      const text = texts.filter(Boolean).join("\n\n");
      const last = parts.at(-1);
      if (text && last) {
        parts.push({ id: `${last.id}m`, sessionID, messageID: message.id, type: "text", text, synthetic: true });
      }
    },
    "experimental.session.compacting": async ({ sessionID }) => {
      await tell("pre-compact", "experimental.session.compacting", sessionID);
      started.set(sessionID, "compact");
    },
    event: async ({ event }) => {
      if (event.type === "session.idle") await tell("stop", "session.idle", event.properties.sessionID);
    },
  };
};
