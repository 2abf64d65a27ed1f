// An agent and a client that read lines as many programs do: with readline, which splits at U+2028 and U+2029 too,
// in some versions of Node. A line that is no message ends them.
import { createInterface } from "node:readline";
import { spawn } from "node:child_process";

const text = "a\u2028b\u2029c\u0085d";
const write = (to, msg) => to.write(JSON.stringify({ jsonrpc: "2.0", ...msg }) + "\n");

const read = (from, handle) =>
  createInterface({ input: from, crlfDelay: Infinity }).on("line", (line) => {
    try {
      handle(JSON.parse(line));
    } catch (err) {
      console.error("not a message: " + JSON.stringify(line), String(err));
      process.exit(3);
    }
  });

if (process.argv[2] === "agent") {
  // It says back what it got, in a session whose id has the characters too.
  read(process.stdin, ({ id, method, params }) => {
    const result = (value) => write(process.stdout, { id, result: value });
    if (method === "initialize") result({ protocolVersion: 1 });
    else if (method === "session/new") result({ sessionId: text, _meta: { got: params } });
    else if (method === "session/prompt") {
      const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: JSON.stringify(params) } };
      write(process.stdout, { method: "session/update", params: { sessionId: params.sessionId, update } });
      result({ stopReason: "end_turn" });
    } else if (id !== undefined) result(params ?? {});
  });
} else {
  // It prompts an agent that repeats its prompts, and prints what it says.
  const agent = spawn(process.argv[2], process.argv.slice(3), { stdio: ["pipe", "pipe", "inherit"] });
  let said = "";
  read(agent.stdout, ({ id, method, params, result, error }) => {
    if (error) throw new Error(JSON.stringify(error));
    if (id === "i" + text) write(agent.stdin, { id: 1, method: "session/new", params: { cwd: "/" + text, mcpServers: [] } });
    if (id === 1) {
      const prompt = [{ type: "text", text, _meta: { [text]: text } }];
      write(agent.stdin, { id: 2, method: "session/prompt", params: { sessionId: result.sessionId, prompt } });
    }
    if (method === "session/update") said += params.update.content?.text ?? "";
    if (id === 2) {
      console.log(JSON.stringify(said));
      agent.stdin.end();
    }
  });
  write(agent.stdin, { id: "i" + text, method: "initialize", params: { protocolVersion: 1, _meta: { [text]: text } } });
}
