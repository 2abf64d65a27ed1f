package acptest

import (
	"fmt"
	"maps"

	"github.com/acpkit/go-sdk/acp/acptest/internal/models"
)

// Model is a scripted language model, a server on the loopback interface. With it the checks make an
// agent call tools, ask for permission, and work until it is cancelled, without a key.
type Model struct {
	// Env are the variables, as NAME=VALUE, by which agents in use reach the model, for [Command].
	// The home folder of the agent is a temporary one.
	Env []string
	// Prompts are the texts for [Options] Prompts.
	Prompts map[string]string

	server *models.Server
}

// StartModel starts a model. The kind is the protocol that the agent speaks with its model:
// anthropic (messages), openai (chat completions) or responses.
func StartModel(kind string) (*Model, error) {
	server, err := models.Start(kind)
	if err != nil {
		return nil, fmt.Errorf("acptest: %w", err)
	}
	return &Model{Env: server.Env, Prompts: maps.Clone(models.Prompts), server: server}, nil
}

// Close ends the model and removes the home folder.
func (m *Model) Close() error { return m.server.Close() }
