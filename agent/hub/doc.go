// Package hub shares the sessions of one agent between clients. Experimental: it may change in any release. A session
// belongs to the hub and not to a connection: several clients may be attached to it, each of them sees the whole
// conversation, and a turn goes on when its client leaves.
//
//	h := hub.New(&hub.Options{
//		Agent: supervise.Options{Dial: stream.CommandDial(func() *exec.Cmd { return exec.Command("gemini", "--acp") }, nil)},
//		Store: store, // a journal.Files: sessions survive the hub
//	})
//	handler := remote.NewHandler(h.Serve, nil)
//	defer h.Shutdown(ctx)
//
// The hub speaks version 1 of the protocol to the agent and to clients, without extensions: a client
// attaches with session/load or session/resume. Package github.com/acpkit/go-sdk/draft2/serve serves clients of
// version 2 with [Hub.Agent].
//
// # What it promises
//
//   - A client that attaches gets all that happened, then all that happens: no gap and nothing
//     twice. Messages come whole and tool calls in their present state.
//     A client that is attached may load the session again. What is on its way arrives before the history, so a client
//     that would show it twice closes the session first.
//   - A prompt is sent to the agent at most once, whatever dies. One turn of a session runs at a time; later
//     prompts wait. One that cannot be stored is refused, and neither the agent nor another client gets anything of it.
//   - A question of the agent is put to every attached client that controls the session. The first
//     valid answer holds, is stored with who gave it, and the question is withdrawn from the others. If nobody is
//     there, or all have dismissed it, the question waits; the hub never allows anything by itself.
//   - Neither the agent nor a turn waits for a client that reads slowly. Such a client gets what happened in fewer
//     messages, and if that is not enough, its connection ends and it loads the session again.
//   - What the person saw is stored as it happens; text of an unfinished message at most a second later. A hub that
//     is killed and started again shows it, and marks tool calls without an end as failed.
//   - A session that a principal may not see looks like one that does not exist.
//   - Hubs that share a store which several processes may use are one: with Options.Reach a client gets its sessions at any of
//     them. A session is at one hub. If that ends, or another process takes the session, the connections of its clients end
//     with ErrLost; they load it again, at any hub, and a load waits until the store lets go of a hub that died.
//
// The files and terminals of clients are not offered to the agent: the clients of a session may have
// different ones. It gets those of Options.Host.
//
// # Suggestions and cursors
//
// The hub advertises to the agent what Options.Agent.Initialize says. With promptSuggestions and cursors in it, suggestions and
// cursors reach the attached clients that advertise them too. They are not stored: a client that attaches later has no suggestions
// until the agent sends others, and does not see the cursors that were named before. session/fork and session/options are not offered.
// An agent of this library offers boolean config options only with configOptions.boolean in it.
//
// # When the agent dies
//
// The turn that runs fails, and its prompt is not sent again. The agent is started again, and the session is
// resumed or loaded there if the agent can do that; what the agent replays is not shown again. Otherwise the
// session is new for the agent, and a message in the conversation says so.
package hub
