import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PROGRAM = {program};
const OPTIONS = {arguments};
const SESSIONS = {sessions};

function mabos(event, payload) {
  return new Promise((resolve) => {
    let answer = "";
    const child = spawn(PROGRAM[0], [...PROGRAM.slice(1), "hook", event, ...OPTIONS], {
      stdio: ["pipe", "pipe", "ignore"],
      timeout: 10000,
    });
    child.on("error", () => resolve(""));
    child.stdin.on("error", () => {});
    child.stdout.on("data", (piece) => (answer += piece));
    child.on("close", () => {
      try {
        resolve(JSON.parse(answer).hookSpecificOutput.additionalContext);
      } catch {
        resolve("");
      }
    });
    child.stdin.end(JSON.stringify(payload));
  });
}

function transcript(session) {
  return join(SESSIONS, `${String(session).replace(/[^\w.-]/g, "_")}.jsonl`);
}

function about(name, session, folder, more = {}) {
  return { hook_event_name: name, session_id: session, cwd: folder, transcript_path: transcript(session), ...more };
}

function begin(session, folder, started) {
  mkdirSync(SESSIONS, { recursive: true, mode: 0o700 });
  const head = { type: "session", version: 3, id: session, timestamp: started.toISOString(), cwd: folder };
  appendFileSync(transcript(session), JSON.stringify(head) + "\n", { mode: 0o600 });
}
