package client

import "github.com/acpkit/go-sdk/acp"

// Capabilities returns what a client can advertise by the interfaces it
// implements: fs.readTextFile for an [acp.TextFileReader], terminal for an
// [acp.TerminalHost], and so on. An [acp.Elicitor] is taken to show forms, and web
// pages as well if it is an [acp.ElicitationCompleter]. [Conn.Initialize] sends it
// when the request leaves ClientCapabilities nil.
//
// What no interface tells, such as notices or boolean options, is left out. To
// advertise those start from the result:
//
//	caps := client.Capabilities(c)
//	caps.Session = &acp.ClientSessionCapabilities{Notices: &acp.NoticeCapabilities{}}
//
// For a connection to a client the result is what that client advertised, nil if it
// is not known yet.
func Capabilities(c acp.Client) *acp.ClientCapabilities {
	if r, ok := c.(remoteClient); ok {
		return r.ClientCapabilities()
	}
	caps := &acp.ClientCapabilities{}
	fs := func() *acp.FileSystemCapabilities {
		if caps.FS == nil {
			caps.FS = &acp.FileSystemCapabilities{}
		}
		return caps.FS
	}
	if _, ok := c.(acp.TextFileReader); ok {
		fs().ReadTextFile = true
	}
	if _, ok := c.(acp.TextFileWriter); ok {
		fs().WriteTextFile = true
	}
	if _, ok := c.(acp.TerminalHost); ok {
		caps.Terminal = true
	}
	if _, ok := c.(acp.Elicitor); ok {
		caps.Elicitation = &acp.ElicitationCapabilities{Form: &acp.ElicitationFormCapabilities{}}
		if _, ok := c.(acp.ElicitationCompleter); ok {
			caps.Elicitation.URL = &acp.ElicitationURLCapabilities{}
		}
	}
	return caps
}

// methodBits lists the capabilities that promise a method, with the interface that
// holds it.
var methodBits = []struct{ path, method, role string }{
	{"fs.readTextFile", acp.MethodFSReadTextFile, "TextFileReader"},
	{"fs.writeTextFile", acp.MethodFSWriteTextFile, "TextFileWriter"},
	{"terminal", acp.MethodTerminalCreate, "TerminalHost"},
	{"elicitation.form", acp.MethodElicitationCreate, "Elicitor"},
	{"elicitation.url", acp.MethodElicitationCreate, "Elicitor"},
}
