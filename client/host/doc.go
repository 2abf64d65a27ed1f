// Package host is a complete client: it gives an agent access to the files of some folders and, if
// Options.Terminals is set, to terminals, asks the user what the agent may do, shows the forms and web pages of the
// agent, and signs the user in. Experimental: it may change in any release.
//
//	h, err := host.Open(&host.Options{Roots: []string{dir}, Ask: askOnTerminal})
//	if err != nil {
//		return err
//	}
//	defer h.Close()
//	conn, err := client.Connect(ctx, process, h.Client, nil)
//
// The parts are packages of their own: files, terminals, permission, elicitation and
// signin. Host combines them so that one policy decides about everything that has
// effects: permission requests, each write, and each command. By default the user is
// asked. Without a function that asks, the operation is denied.
//
// [Run] is a whole run where no one can be asked, as in a pipeline.
//
// # Showing a session
//
// A thread.Set around the client keeps what a user interface shows of each session: messages, tool
// calls, and the commands that agents run in terminals, with their output while they run, their exit
// status, and a function that stops them. Options.Update is called when its thread has the update.
//
//	newClient := func(conn *client.Conn) acp.Client { return threads.Client(h.Client(conn)) }
//	conn, err := client.Connect(ctx, process, newClient, &client.Options{Sending: []acp.Middleware{threads.Sending}})
//
// # Overriding a method
//
// To override methods of the client that [Host.Client] returns, embed it in a struct as an
// acp.ClientWrapper; see the example of Host.Client. A middleware of client.Options can
// override methods as well. To do without Host, embed the types of the parts in a type of
// your own; see the parts.
//
// # Sign-in
//
// An agent may require sign-in in any call: some refuse session/new, others the first
// prompt. [Host.SignIn] makes a call, signs the user in if that is needed, and makes it again.
package host
