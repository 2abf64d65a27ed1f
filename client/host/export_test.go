package host

import "github.com/acpkit/go-sdk/acp"

// Compose composes a client of parts.
func Compose(base acp.Client, r acp.TextFileReader, w acp.TextFileWriter, t acp.TerminalHost, e acp.Elicitor, c acp.ElicitationCompleter) acp.Client {
	return compose(base, parts{r, w, t, e, c})
}
