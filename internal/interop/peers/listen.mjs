// Serves an agent on the TypeScript SDK over streamable HTTP and WebSocket, prints its URL, and ends with its
// standard input.
import { createServer } from "node:http";
import { AcpServer } from "@agentclientprotocol/sdk/experimental/server";
import { createNodeHttpHandler, createNodeWebSocketUpgradeHandler } from "@agentclientprotocol/sdk/experimental/node";
import { WebSocketServer } from "ws";

export async function listen(agent) {
  const acp = new AcpServer({ agent });
  const http = createServer(createNodeHttpHandler(acp, { maxRequestBodyBytes: 64 << 20 }));
  http.on("upgrade", createNodeWebSocketUpgradeHandler(acp, new WebSocketServer({ noServer: true })));
  await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
  process.stdout.write(`http://127.0.0.1:${http.address().port}/acp\n`);
  process.stdin.resume();
  await new Promise((resolve) => process.stdin.once("end", resolve));
  await acp.close();
  process.exit(0);
}
