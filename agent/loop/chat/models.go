package chat

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/acpkit/go-sdk/internal/completions"
	"github.com/acpkit/go-sdk/rpcerr/kind"
)

const (
	listTime  = 5 * time.Second // for the list of models when a session is opened
	imageTime = 2 * time.Second // for the list of models when a client connects
	maxList   = 8 << 20
	maxModels = 1000 // more than a person can choose from
)

// info is what a server says of a model.
type info struct {
	window uint64 // 0 means that it is not known
	images *bool  // nil means that it is not known
}

// models returns the models that the server lists.
func (m *Model) models(ctx context.Context) ([]string, error) {
	limited, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	res, err := m.send(limited, http.MethodGet, "/models", nil)
	if err != nil {
		return nil, m.explain(ctx, err, "")
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxList))
	switch {
	case err != nil:
		return nil, m.explain(ctx, err, "")
	case completions.IsPage(body):
		return nil, m.explain(ctx, m.refused(res, body), "")
	case !json.Valid(body):
		return nil, kind.Serialization.New("the list of models of " + m.host + " is not JSON")
	}
	list := json.RawMessage(body)
	if o := completions.ObjectOf(body); o != nil {
		list = completions.First(o["data"], o["models"])
	}
	known := make(map[string]*info)
	ids := []string{}
	for _, raw := range completions.ListOf(list) {
		o := completions.ObjectOf(raw)
		id := completions.TextOf(raw)
		for _, name := range []string{"id", "name", "model"} {
			if id == "" {
				id = completions.TextOf(o[name])
			}
		}
		if id != "" && known[id] == nil && len(ids) < maxModels {
			known[id] = infoOf(o)
			ids = append(ids, id)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known, m.listed = known, true
	return ids, nil
}

// infoOf reads what the server says of a model, in the members of several services.
func infoOf(o completions.Members) *info {
	i := &info{}
	for _, of := range []completions.Members{o, completions.ObjectOf(o["top_provider"]), completions.ObjectOf(o["meta"]), completions.ObjectOf(o["limits"]), completions.ObjectOf(o["capabilities"])} {
		for _, name := range []string{"loaded_context_length", "max_model_len", "n_ctx", "context_window", "context_length", "max_context_length", "max_context_window_tokens", "input_token_limit"} {
			if n, ok := completions.CountOf(of[name]); ok && i.window == 0 {
				i.window = n
			}
		}
	}
	capabilities := o["capabilities"]
	if vision, ok := completions.ObjectOf(capabilities)["vision"]; ok { // Mistral
		i.images = new(string(vision) == "true")
	}
	modalities := completions.First(completions.ObjectOf(o["architecture"])["input_modalities"], o["input_modalities"])
	if completions.ObjectOf(capabilities) == nil && completions.IsNull(modalities) {
		modalities = capabilities // llama.cpp
	}
	for n, raw := range completions.ListOf(modalities) {
		if word := completions.TextOf(raw); word == "image" || word == "vision" || word == "multimodal" || n == 0 && i.images == nil && word != "" {
			i.images = new(word == "image" || word == "vision" || word == "multimodal")
		}
	}
	return i
}

// about returns what is known of a model, or nil.
func (m *Model) about(model string) *info {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known[model]
}

// window returns the size of the context of a model, or 0 if it is not known.
func (m *Model) window(model string) uint64 {
	if known := m.about(model); m.opts.Window == 0 && known != nil {
		return known.window
	}
	return m.opts.Window
}

// Images reports whether the default model takes images, as far as the server says so. Use it as
// kit.Options.Images. It asks the server once.
func (m *Model) Images(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, imageTime)
	defer cancel()
	m.mu.Lock()
	listed := m.listed
	m.mu.Unlock()
	if m.bad != nil || !listed && func() bool { _, err := m.models(ctx); return err != nil }() {
		return true
	}
	model, err := m.name(ctx, "")
	known := m.about(model)
	return err != nil || known == nil || known.images == nil || *known.images
}

// shown returns the base URL for a text: without what may be secret.
func (m *Model) shown() string {
	u := *m.base
	u.User, u.RawQuery = nil, ""
	return strings.TrimSuffix(u.String(), "/")
}
