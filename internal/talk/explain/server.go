package explain

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/acpkit/go-sdk/internal/endpoint"
	"github.com/acpkit/go-sdk/stream"
)

const silentServer = "The server was reached, and sends nothing. Check that an agent serves this URL, or wait longer."

// refused returns what to do after a response of HTTP that refuses something. What the server says is
// shown if it is a sentence.
func refused(status *stream.StatusError) string {
	next := "The server refuses this. Look into its log."
	switch code := status.Code; {
	case strings.Contains(status.Body, "HTTP request to an HTTPS server"):
		return "The server speaks TLS at this port. Begin the URL with https or wss."
	case code == 401:
		next = "The agent wants a token: it got none, or not the one that it expects."
	case code == 403:
		next = "The server does not let this program in. Check the token, and the hosts and origins that the server allows."
	case code == 404, code == 405:
		next = "There is no agent at this path of the server. Check the path of the URL; many agents have /acp."
	case code == 413:
		next = "The message is longer than the server takes. Send less, such as smaller images, or raise its limit."
	case code == 429:
		next = "The server has too much to do, or this program has asked too often. Wait, and try again."
	case code == 502, code == 503, code == 504:
		next = "The agent behind the server is not ready. Try again later."
	case code >= 500:
		next = "The server has failed. Try again later, or look into its log."
	case code < 400:
		next = "The server answers, and is no agent: what is at this URL seems to be a web page. Check the URL."
	case code == 400, code == 406, code == 415, code == 426:
		next = "The server does not take this for a message of an agent's client. Check the URL, and whether it wants http or ws."
	}
	if said := sentence(status.Body); said != "" {
		return "The server says: " + said + "\n" + next
	}
	return next
}

// sentence returns what a person can read of the body of a refusal, or "" if that is a page or data.
func sentence(body string) string {
	text := strings.Join(strings.Fields(endpoint.Printable(body)), " ")
	if text == "" || strings.ContainsAny(text[:1], "<{[") || len(text) > 300 {
		return ""
	}
	return text
}

// unreached returns what to do if a server was not reached, or is none. Package net and those of TLS are
// not linked here, so the texts of their errors tell what happened.
func unreached(err error) string {
	text := err.Error()
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "No agent listens there. Start it, or check the port of the URL."
	case has("no such host", "server misbehaving"):
		return "The name of the host is not known here. Check the URL, and the network."
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return "The host cannot be reached from here. Check the network."
	case has("server gave HTTP response to HTTPS client", "first record does not look like a TLS handshake"):
		return "The server does not speak TLS at this port. Begin the URL with http or ws."
	case has("certificate signed by unknown authority", "certificate is not trusted", "certificate is not standards compliant"):
		return "The certificate of the server is signed by nobody whom this system trusts. Trust its authority here, or let the server have another certificate."
	case has("certificate has expired or is not yet valid"):
		return "The certificate of the server has expired, or the clock of this machine is wrong."
	case has("certificate is valid for", "certificate is not valid for any names", "doesn't contain any IP SANs", "not valid for hostname"):
		return "The certificate of the server is for another name. Use that name in the URL."
	case has("the response to initialize is not one of this protocol"):
		return "The server answers, and is no agent: what is at this URL seems to be a web page. Check the URL."
	case has("the URL cannot be parsed", "must begin with one of the schemes"):
		return "An agent's URL is such as https://agents.example/acp, wss://agents.example/acp or unix:/run/agent.sock."
	case has("the URL holds credentials"):
		return "Take them out of the URL, and give them where this program takes a token."
	case has("dial unix") && errors.Is(err, fs.ErrNotExist):
		return "There is no such socket. Start the agent, or check the path."
	case has("WebSocket dial") && errors.Is(err, context.DeadlineExceeded):
		return silentServer
	}
	return ""
}
