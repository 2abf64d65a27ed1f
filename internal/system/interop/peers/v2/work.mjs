// Terminals and background work of the agent of version 2. Nothing is really run.
const base64 = (bytes) => Buffer.from(bytes).toString("base64");

// A command whose output comes in two pieces, which part a character.
export async function terminal(session, update) {
  const terminalId = `${session.id}-term-${++session.messages}`;
  await update("terminal_update", { terminalId, command: "make", cwd: session.cwd, size: { cols: 80, rows: 24 } });
  await update("tool_call_update", { toolCallId: "call-3", title: "make", kind: "execute", status: "in_progress", content: [{ type: "terminal", terminalId }] });
  const output = Buffer.from("built ü\n");
  await update("terminal_output_chunk", { terminalId, data: base64(output.subarray(0, 7)) });
  await update("terminal_output_chunk", { terminalId, data: base64(output.subarray(7)) });
  await update("terminal_update", { terminalId, exitStatus: { exitCode: 0 } });
  await update("tool_call_update", { toolCallId: "call-3", status: "completed" });
}

// A tool call and a terminal that outlive the turn. The tool call asks for permission, and only its own cancel ends the question.
export async function background(session, update, ask, note) {
  const toolCallId = "call-4", terminalId = `${session.id}-term-${++session.messages}`;
  const add = (item, stop) => (session.background.push({ item, stop }), session.sendState());
  await update("tool_call_update", { toolCallId, title: "Watch", kind: "execute", status: "in_progress", capabilities: { cancel: {} } });
  const question = new AbortController();
  await add({ type: "tool_call", toolCallId }, async () => {
    question.abort();
    await update("tool_call_update", { toolCallId, status: "cancelled", capabilities: null });
  });
  await update("terminal_update", { terminalId, command: "tail -f log", cwd: session.cwd, capabilities: { cancel: {} } });
  await add({ type: "terminal", terminalId }, () => update("terminal_update", { terminalId, exitStatus: { signal: "SIGTERM" }, capabilities: null }));
  ask({ title: "Watch?", subject: { type: "tool_call", toolCall: { toolCallId, title: "Watch" } } }, { cancellationSignal: question.signal })
    .then((answer) => note("answer:background permission", answer), (e) => note("answer:background permission", { error: { code: e.code } }));
}
