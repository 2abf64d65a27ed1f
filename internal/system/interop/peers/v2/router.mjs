// The agents of both versions on one endpoint, behind the router of the TypeScript SDK.
//   node v2/router.mjs [--listen]
// The variable ACP_ROUTE leaves only one of them behind it: 1 or 2.
import { agentProtocolRouter } from "@agentclientprotocol/sdk/experimental/v2";
import { app as one } from "../agent.mjs";
import { serve } from "../listen.mjs";
import { app as two } from "./agent.mjs";

const only = process.env.ACP_ROUTE;
const router = agentProtocolRouter();
if (only !== "2") router.withV1(one);
if (only !== "1") router.withV2(two);
await serve(router);
