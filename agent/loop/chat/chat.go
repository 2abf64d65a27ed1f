// Package chat is a loop.Model for servers of chat completions, such as Ollama, llama.cpp, vLLM, OpenAI and OpenRouter.
// Experimental: it may change in any release.
//
//	model := chat.New(&chat.Options{BaseURL: os.Getenv("BASE_URL"), Key: os.Getenv("API_KEY"), Model: os.Getenv("MODEL")})
//	l := loop.New(model, nil)
//	a := kit.New(&kit.Options{Auth: model.Auth(), Settings: kit.Settings{model.Setting()}, Turn: l.Turn})
//
// Its errors are records of package rpcerr/kind. Their text says what is wrong with the URL, the key,
// the model or the server, and what to do next; they contain a part of the server's response, and never
// the key or the query of a URL. A program reads from the record whether to wait, and how long.
//
// Answers are read in every form that servers are known to send, and what a server refuses, such as
// images, is left out of later requests for its model.
package chat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/loop"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

// Options configure a Model.
type Options struct {
	// BaseURL is the URL before /chat/completions, such as http://localhost:11434/v1. It may have a
	// query, such as ?api-version=2024-10-21 for Azure.
	BaseURL string

	// Key is sent as a bearer token if it is not empty.
	Key string

	// Model is the default model. If it is empty and the server lists only one model, that one is
	// used. If the server lists several, the person must choose one with [Model.Setting].
	Model string

	// Header is added to each request.
	Header http.Header

	// MaxTokens limits an answer. Zero leaves the limit to the server.
	MaxTokens int

	// Temperature is that of each request. Nil leaves it to the server.
	Temperature *float64

	// Extra has further members of each request. A member that is nil is left out of it.
	Extra map[string]any

	// Window is the size of the context of the model in tokens. Zero means what the server says of the
	// model in its list, if it says that.
	Window uint64

	// FirstByte is how long a server may take to begin an answer. Zero means 10 minutes for hosts of a
	// network of its own, which may have to load the model, and 2 minutes for others. Silence is how
	// long a server may send nothing in the middle of an answer. Zero means 3 minutes. Whole is the
	// maximum duration of an answer. Zero means no limit, and so does a negative value of the others.
	FirstByte, Silence, Whole time.Duration

	// Client sends the requests. Nil means one without limits of its own. A client without a
	// CheckRedirect does not follow redirects to another host, because that host would receive the
	// key.
	Client *http.Client
}

// A Model sends requests to a server of chat completions. It is safe for concurrent use.
type Model struct {
	opts      Options
	base      *url.URL // without a slash at its end
	host      string   // that of base
	bad       error    // the error of an invalid base URL
	service   service
	secrets   []string
	firstByte time.Duration

	mu      sync.Mutex
	version string // "/v1" once a request has shown that the server needs it
	listed  bool   // known has the list of the server
	known   map[string]*info
	changed map[string]map[change]bool // by model
}

// New returns a model. It sends no request. If the options are invalid, the first request, and
// Ready of [Model.Auth], return the error.
func New(opts *Options) *Model {
	m := &Model{base: &url.URL{}, changed: make(map[string]map[change]bool)}
	if opts != nil {
		m.opts = *opts
	}
	if m.opts.Client == nil {
		m.opts.Client = &http.Client{Transport: http.DefaultTransport}
	}
	if m.opts.Client.CheckRedirect == nil {
		m.opts.Client = new(*m.opts.Client)
		m.opts.Client.CheckRedirect = sameHost
	}
	m.opts.Silence = cmp.Or(m.opts.Silence, 3*time.Minute)
	given := strings.TrimSpace(m.opts.BaseURL)
	u, err := url.Parse(given)
	switch {
	case given == "":
		m.bad = kind.Configuration.New("Set BASE_URL to the address of a server of chat completions, such as http://localhost:11434/v1 for Ollama.")
	case err != nil:
		m.bad = kind.Configuration.New("BASE_URL is not a URL: it looks like http://localhost:11434/v1.")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		m.bad = kind.Configuration.New("BASE_URL must begin with http:// or https://, such as http://localhost:11434/v1.")
	default:
		u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions") // some documents include this in the URL
		u.RawPath, u.Fragment = "", ""
		m.base, m.host = u, u.Host
	}
	m.firstByte = m.opts.FirstByte
	if m.firstByte == 0 {
		m.firstByte = 2 * time.Minute
		if local(m.base.Hostname()) {
			m.firstByte = 10 * time.Minute
		}
	}
	for _, s := range services {
		if strings.HasSuffix(m.base.Hostname(), s.host) {
			m.service = s
		}
	}
	m.secrets = secretsOf(&m.opts, m.base)
	return m
}

// sameHost refuses a redirect to another host, which would receive the key, and a redirect that
// turns a POST into a GET.
func sameHost(req *http.Request, via []*http.Request) error {
	if len(via) >= 10 || req.URL.Host != via[0].URL.Host || req.URL.Scheme != via[0].URL.Scheme || req.Method != via[0].Method {
		return http.ErrUseLastResponse
	}
	return nil
}

// Auth returns the methods that tell clients which environment variables to set.
func (m *Model) Auth() *kit.Auth {
	return &kit.Auth{
		Methods: []acp.AuthMethod{&acp.AuthMethodAgent{
			ID: "environment", Name: "Environment variables",
			Description: "Set BASE_URL to the address of a server of chat completions, API_KEY if it needs one, and MODEL, in the environment of the agent.",
		}},
		Ready: func(context.Context) error { return m.bad },
	}
}

// notChosen is the value of the setting while the person has not chosen one of several models.
const notChosen = "none"

// Setting returns a config option with the models of the server.
func (m *Model) Setting() kit.Setting {
	t := kit.Setting{ID: "model", Name: "Model", Category: acp.SessionConfigOptionCategoryModel, Default: m.opts.Model}
	if m.opts.Model != "" {
		t.Values = []acp.SessionConfigSelectOption{{Value: acp.SessionConfigValueID(m.opts.Model), Name: m.opts.Model}}
	}
	t.Load = func(ctx context.Context) ([]acp.SessionConfigSelectOption, error) {
		ids, err := m.models(ctx)
		if err != nil {
			return nil, err
		}
		var all []acp.SessionConfigSelectOption
		switch {
		case m.opts.Model != "": // even if the server does not list it
			all = t.Values
		case len(ids) > 1:
			all = []acp.SessionConfigSelectOption{{Value: notChosen, Name: "No model chosen"}}
		}
		for _, id := range ids {
			if id != m.opts.Model {
				all = append(all, acp.SessionConfigSelectOption{Value: acp.SessionConfigValueID(id), Name: id})
			}
		}
		return all, nil
	}
	return t
}

// name returns the name of the model for a request.
func (m *Model) name(ctx context.Context, chosen string) (string, error) {
	if chosen == notChosen || chosen == "" {
		chosen = m.opts.Model
	}
	if chosen != "" {
		return chosen, nil
	}
	ids, err := m.models(ctx)
	missing, ok := errors.AsType[*refusal](err)
	switch {
	case ok && missing.status == http.StatusNotFound && !missing.page:
		return "", kind.Configuration.New(fmt.Sprintf("MODEL is not set, and %s has no list of models at %s/models: set MODEL, and see whether BASE_URL ends in /v1", m.host, m.shown())).WithCause(err)
	case err != nil:
		return "", err
	case len(ids) != 1:
		return "", kind.Configuration.New(fmt.Sprintf("MODEL is not set, and %s has %s: set it to one of them, or choose one in the session", m.host, listed(ids)))
	}
	return ids[0], nil
}

// listed returns at most ten of the names, for an error.
func listed(ids []string) string {
	switch n := len(ids); {
	case n == 0:
		return "no models"
	case n > 10:
		return fmt.Sprintf("%d models, such as %s", n, strings.Join(ids[:10], ", "))
	}
	return "the models " + strings.Join(ids, ", ")
}

// Generate implements loop.Model.
func (m *Model) Generate(ctx context.Context, req *loop.Request) iter.Seq2[loop.Event, error] {
	return loop.Stream(ctx, func(ctx context.Context, show func(loop.Event)) error {
		model, err := m.name(ctx, req.Model)
		if err != nil {
			return err
		}
		return m.repeat(ctx, model, req, show)
	})
}
