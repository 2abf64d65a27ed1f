// A client that asks its user nothing: somebody else must answer the agent.
//   node attach.mjs SDK FOLDER COMMAND [ARGS...]    the SDK is v1, v2 or zed, the one of Zed before it was of the protocol
// It sends the prompt "permission" and prints {asked, said, stop} as JSON.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";

const [sdk, cwd, command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
process.on("exit", () => child.kill("SIGKILL"));
setTimeout(() => { throw new Error("no end after 60 s"); }, 60_000).unref();
const input = Writable.toWeb(child.stdin), output = Readable.toWeb(child.stdout);

const report = { asked: 0, said: "", stop: "" };
let idle;
const ended = new Promise((resolve) => (idle = resolve));
const asked = () => (report.asked++, new Promise(() => {}));
const update = ({ update: u }) => {
  if (u.sessionUpdate === "agent_message_chunk") report.said += u.content.text;
  if (u.sessionUpdate === "agent_message") report.said = u.content.map((c) => c.text).join("");
  if (u.sessionUpdate === "state_update" && u.state === "idle") idle(u.stopReason);
};
const prompt = [{ type: "text", text: "permission" }];

async function conversation(agent) {
  await agent.request("initialize", sdk === "v2"
    ? { protocolVersion: 2, info: { name: "attach", version: "1" }, capabilities: {} }
    : { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await agent.request("session/new", { cwd, mcpServers: [] });
  const { stopReason } = await agent.request("session/prompt", { sessionId, prompt });
  report.stop = stopReason ?? (await ended);
}

if (sdk === "zed") {
  const { ClientSideConnection, ndJsonStream } = await import("@zed-industries/agent-client-protocol");
  const agent = new ClientSideConnection(() => ({ requestPermission: asked, sessionUpdate: async (n) => update(n) }), ndJsonStream(input, output));
  const methods = { initialize: "initialize", "session/new": "newSession", "session/prompt": "prompt" };
  await conversation({ request: (method, params) => agent[methods[method]](params) });
} else {
  const { client, ndJsonStream } = await import(`@agentclientprotocol/sdk${sdk === "v2" ? "/experimental/v2" : ""}`);
  const app = client({ name: "attach" }).onRequest("session/request_permission", asked).onNotification("session/update", ({ params }) => update(params));
  await app.connectWith(ndJsonStream(input, output), conversation);
}
console.log(JSON.stringify(report));
process.exit(0);
