// Serves an agent on the TypeScript SDK, or its router, until standard input ends. With the argument --listen it does so over
// streamable HTTP and WebSocket, and prints its URL; otherwise over standard input and output.
import { createServer } from "node:http";
import { Readable, Writable } from "node:stream";
import { ndJsonStream } from "@agentclientprotocol/sdk";

export async function serve(agent) {
  if (process.argv[2] === "--listen") {
    await listen(agent);
  } else {
    await agent.connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin))).closed;
  }
  process.exit(0);
}

async function listen(agent) {
  const { AcpServer } = await import("@agentclientprotocol/sdk/experimental/server");
  const { createNodeHttpHandler, createNodeWebSocketUpgradeHandler } = await import("@agentclientprotocol/sdk/experimental/node");
  const { WebSocketServer } = await import("ws");
  const acp = new AcpServer({ agent });
  const http = createServer(createNodeHttpHandler(acp, { maxRequestBodyBytes: 64 << 20 }));
  http.on("upgrade", createNodeWebSocketUpgradeHandler(acp, new WebSocketServer({ noServer: true })));
  await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
  process.stdout.write(`http://127.0.0.1:${http.address().port}/acp\n`);
  process.stdin.resume();
  await new Promise((resolve) => process.stdin.once("end", resolve));
  await acp.close();
}
