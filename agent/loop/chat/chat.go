// Package chat is a loop.Model for servers of chat completions, such as Ollama, llama.cpp, vLLM,
// OpenAI and OpenRouter.
//
//	model := chat.New(&chat.Options{BaseURL: os.Getenv("BASE_URL"), Key: os.Getenv("API_KEY"), Model: os.Getenv("MODEL")})
//	l := loop.New(model, nil)
//	a := kit.New(&kit.Options{Auth: model.Auth(), Settings: kit.Settings{model.Setting()}, Turn: l.Turn})
//
// Its errors are one sentence that says what is wrong with the URL, the key, the model or the
// server. They contain at most 200 characters of the server's response, and never the key.
package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent/kit"
	"github.com/acpkit/go-sdk/agent/loop"
)

// Options configure a Model.
type Options struct {
	// BaseURL is the URL before /chat/completions, such as http://localhost:11434/v1.
	BaseURL string

	// Key is sent as a bearer token if it is not empty.
	Key string

	// Model is the default model. If it is empty and the server lists only one model, that one is
	// used. If the server lists several, the person must choose one with [Model.Setting].
	Model string

	// Client sends the requests. Nil means a client that waits up to two minutes for the begin of
	// an answer. A client without a CheckRedirect does not follow redirects to another host,
	// because that host would receive the key.
	Client *http.Client
}

// A Model sends requests to a server of chat completions. It is safe for concurrent use.
type Model struct {
	opts Options
	base string // the base URL without a slash at its end
	host string // that of base
	bad  error  // the error of an invalid base URL

	mu      sync.Mutex
	version string // "/v1" once a request has shown that the server needs it
}

// New returns a model. It sends no request. If the options are invalid, the first request, and
// Ready of [Model.Auth], return the error.
func New(opts *Options) *Model {
	m := &Model{}
	if opts != nil {
		m.opts = *opts
	}
	if m.opts.Client == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.ResponseHeaderTimeout = 2 * time.Minute // a server may have to load the model
		m.opts.Client = &http.Client{Transport: t}
	}
	if m.opts.Client.CheckRedirect == nil {
		m.opts.Client = new(*m.opts.Client)
		m.opts.Client.CheckRedirect = sameHost
	}
	m.base = strings.TrimRight(strings.TrimSpace(m.opts.BaseURL), "/")
	m.base = strings.TrimSuffix(m.base, "/chat/completions") // some documents include this in the URL
	u, err := url.Parse(m.base)
	wrong := func(text string) { m.bad = errors.New(text) }
	switch {
	case m.base == "":
		wrong("BASE_URL is not set. Set it to the address of a server of chat completions, such as http://localhost:11434/v1 for Ollama.")
	case err != nil:
		wrong("BASE_URL is not a URL. It looks like http://localhost:11434/v1.")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		wrong("BASE_URL must begin with http:// or https://, such as http://localhost:11434/v1.")
	default:
		m.host = u.Host
	}
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

const (
	listTime = 5 * time.Second // for the list of models when a session is opened
	maxList  = 8 << 20
	maxError = 64 << 10 // bytes of an error response that are read
)

// models returns the models that the server lists.
func (m *Model) models(ctx context.Context) ([]string, error) {
	limited, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	res, err := m.send(limited, http.MethodGet, "/models", nil)
	if err != nil {
		return nil, m.explain(ctx, err, "")
	}
	defer res.Body.Close()
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxList))
	switch {
	case err != nil:
		return nil, m.explain(ctx, err, "")
	case isPage(body):
		return nil, m.explain(ctx, newStatusError(res, body), "")
	}
	if err := json.Unmarshal(body, &list); err != nil {
		return nil, m.failed("the list of models of %s is not JSON", m.host).WithCause(err)
	}
	ids := make([]string, 0, len(list.Data))
	for _, d := range list.Data {
		if d.ID != "" && !slices.Contains(ids, d.ID) {
			ids = append(ids, d.ID)
		}
	}
	return ids, nil
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
	var status *statusError
	switch {
	case errors.As(err, &status) && status.status == http.StatusNotFound && !status.html:
		return "", m.failed("MODEL is not set, and %s has no list of models at %s/models: set MODEL, and see whether BASE_URL ends in /v1", m.host, m.base).WithCause(err)
	case err != nil:
		return "", err
	case len(ids) != 1:
		return "", m.failed("MODEL is not set, and %s has %s: set it to one of them, or choose one in the session", m.host, listed(ids))
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
		body, err := json.Marshal(requestOf(model, req))
		if err != nil {
			return err
		}
		res, err := m.retry(ctx, body)
		if err != nil {
			return m.explain(ctx, err, model)
		}
		defer res.Body.Close()
		return m.stream(res.Body, show)
	})
}
