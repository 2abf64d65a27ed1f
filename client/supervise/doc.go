// Package supervise keeps an agent running: it starts the agent, starts it again when it has died, and
// reopens its sessions. Experimental: it may change in any release.
//
//	s := supervise.New(&supervise.Options{
//		Dial:   stream.CommandDial(func() *exec.Cmd { return exec.Command("gemini", "--acp") }, nil),
//		Client: newClient,
//	})
//	if err := s.Start(ctx); err != nil {
//		return err
//	}
//	defer s.Wait()
//	defer s.Close()
//	session, err := s.Open(ctx, &supervise.SessionOptions{Cwd: dir})
//
// A [Session] remains valid when the agent dies. Its methods wait until the agent is
// running again.
//
// # After the agent has died
//
// A turn that runs when the agent dies fails with an error that wraps acp.ErrClosed, and
// the *stream.ExitError of a process with its status and the end of its standard error. Its
// prompt is not sent again, because it may already have had effects. Options.OnDown is
// called. Then the agent is started again, by the rules of [Restart].
//
// Each session is resumed if the agent can do that, else loaded, else replaced by a new one with
// the same folders, MCP servers and system prompt. Modes and options that were set with the methods of the
// Session are set again where they differ. Options.OnReturn reports how the session was
// reopened: a new session does not know the conversation.
//
// If the agent requires the user to sign in, Options.SignIn is called once for each start
// of the agent, and the call is made once more.
package supervise
