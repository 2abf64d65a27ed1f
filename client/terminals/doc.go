// Package terminals serves the terminal methods: an agent runs commands on this machine, in
// the folders of its session. Experimental: it may change in any release.
//
//	pool := terminals.New(folders, nil) // folders is a *files.Folders
//	defer pool.Close()
//	conn, err := client.Connect(ctx, process, func(c *client.Conn) acp.Client {
//		return &myClient{Terminals: pool.Terminals(c, check)}
//	}, nil)
//
// [Terminals] has exactly the methods of [acp.TerminalHost] and is made for embedding. A
// client that does not embed it does not offer terminals.
//
// # What a command can do
//
// A command runs with the rights of the user. It starts in a folder of its session, but
// nothing keeps it there: decide in a [Check] which commands may run, or run them elsewhere
// with [Options.Exec].
//
// Of the environment of this program, a command gets only the variables in
// [Options.Inherit], so that secrets are not passed on. It has no standard input and no
// pager. Each command leads a process group of its own. When it ends, the remaining
// processes of its group are ended too. The whole group is ended when its terminal is
// released, its session is closed, its connection ends, or the program ends and main has
// called stream.EndOnSignal.
//
// # Windows
//
// A program is found by its name with each extension of PATHEXT, as by a shell. Names that
// depend on the folder or the drive of this program (C:tool, \tool) and names of streams
// (tool.exe:a) are refused. A batch file runs in cmd.exe: its arguments are quoted, and a
// command whose arguments contain quotes, percent signs or line breaks is refused, because
// cmd.exe could take parts of them for commands. A job object takes the place of the
// process group, and a Ctrl-Break event that of SIGTERM.
package terminals
