package interop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/internal/system/hardening/pairtest"
	"github.com/acpkit/go-sdk/rpcerr"
)

// separatorsAgent has the separators in each text, id and name that it sends. The turn fails if one does not come
// back as it was.
type separatorsAgent struct {
	conn *agent.Conn
	cwd  string
}

// separatorsMeta and separatorsRaw have them in names and values, the latter also as the bytes of raw JSON.
var (
	separatorsMeta = acp.Meta{separated: []any{separated, map[string]any{separated: separated}}}
	separatorsRaw  = json.RawMessage(`{ "` + separated + `": ["` + separated + `", {"` + separated + `": "` + separated + `"}]}`)
)

// separatorsUpdates are what a turn sends, and what loading the session replays.
func separatorsUpdates(cwd string) []acp.SessionUpdate {
	path, old := cwd+"/"+separated, separated+"\n"
	return []acp.SessionUpdate{
		&acp.UserMessageChunk{Content: &acp.TextContent{Text: separated, Meta: separatorsMeta}, MessageID: separated + "1"},
		&acp.AgentThoughtChunk{Content: acp.Text(separated)},
		&acp.AgentMessageChunk{Content: acp.Text("\u2028" + separated + "\u2029"), MessageID: separated + "2", Meta: separatorsMeta},
		&acp.AgentMessageChunk{Content: &acp.ResourceLink{Name: separated, URI: "file:///" + separated}},
		&acp.ToolCall{
			ToolCallID: separated, Title: separated, Name: separated, Kind: acp.ToolKindEdit, RawInput: separatorsRaw, Meta: separatorsMeta,
			Content:   []acp.ToolCallContent{acp.ToolText(separated), &acp.Diff{Path: path, OldText: &old, NewText: separated}},
			Locations: []acp.ToolCallLocation{{Path: path}},
		},
		&acp.ToolCallUpdate{ToolCallID: separated, Status: acp.ToolCallStatusCompleted, RawOutput: separatorsRaw},
		&acp.Plan{Entries: []acp.PlanEntry{{Content: separated, Priority: acp.PlanEntryPriorityLow, Status: acp.PlanEntryStatusPending}}},
		&acp.AvailableCommandsUpdate{AvailableCommands: []acp.AvailableCommand{{Name: separated, Description: separated}}},
		&acp.SessionInfoUpdate{Title: acp.Some(separated)},
	}
}

func (a *separatorsAgent) Initialize(context.Context, *acp.InitializeRequest) (*acp.InitializeResponse, error) {
	return &acp.InitializeResponse{AgentInfo: &acp.Implementation{Name: separated, Version: separated}, Meta: separatorsMeta}, nil
}

func (a *separatorsAgent) NewSession(_ context.Context, req *acp.NewSessionRequest) (*acp.NewSessionResponse, error) {
	a.cwd = req.Cwd
	return &acp.NewSessionResponse{SessionID: separated, Meta: separatorsMeta}, nil
}

func (a *separatorsAgent) LoadSession(ctx context.Context, req *acp.LoadSessionRequest) (*acp.LoadSessionResponse, error) {
	for _, u := range separatorsUpdates(req.Cwd) {
		if err := a.conn.Session(req.SessionID).Update(ctx, u); err != nil {
			return nil, err
		}
	}
	return &acp.LoadSessionResponse{}, nil
}

func (a *separatorsAgent) Prompt(ctx context.Context, req *acp.PromptRequest) (*acp.PromptResponse, error) {
	s, path := a.conn.Session(req.SessionID), a.cwd+"/"+separated
	for _, u := range separatorsUpdates(a.cwd) {
		if err := s.Update(ctx, u); err != nil {
			return nil, err
		}
	}
	choice, err := s.AskPermission(ctx, &acp.ToolCallUpdate{ToolCallID: separated, Title: separated, RawInput: separatorsRaw},
		acp.PermissionOption{OptionID: separated, Name: separated, Kind: acp.PermissionOptionKindAllowOnce})
	if err != nil {
		return nil, err
	}
	if err := s.WriteFile(ctx, path, separated+"\n"+separated); err != nil {
		return nil, err
	}
	text, err := s.ReadFile(ctx, path)
	if err != nil {
		return nil, err
	}
	for what, got := range map[string]string{
		"the session": string(req.SessionID), "the prompt": acp.PlainText(req.Prompt...), "the choice": string(choice.OptionID),
		"the file": strings.TrimSuffix(text, "\n"+separated),
	} {
		if got != separated {
			return nil, rpcerr.InternalError(nil).WithDetail(what + " came back as " + got)
		}
	}
	return &acp.PromptResponse{StopReason: acp.StopReasonEndTurn, Meta: separatorsMeta}, nil
}

func (a *separatorsAgent) Cancel(context.Context, *acp.CancelNotification) error { return nil }

func (a *separatorsAgent) HandleExtension(_ context.Context, method string, params json.RawMessage) (any, error) {
	return map[string]json.RawMessage{method: params}, nil
}

// separatorsNotifications is JSON of the updates of a turn, as the client must get them.
func separatorsNotifications(t *testing.T, cwd string) string {
	t.Helper()
	var all []*acp.SessionNotification
	for _, u := range separatorsUpdates(cwd) {
		all = append(all, &acp.SessionNotification{SessionID: separated, Update: u})
	}
	b, err := json.Marshal(all)
	require.NoError(t, err)
	return string(b)
}

// Clients of others get each separator in each place, whichever version of Node.js reads it.
func TestLineSeparatorsReachClientsOfOthers(t *testing.T) {
	onEachNode(t, func(t *testing.T, node string) {
		t.Run("TypeScript SDK", func(t *testing.T) {
			dir := pairtest.TempDir(t)
			got := run(t, dir, selfEnv("separators"), "", append([]string{node, filepath.Join(peers(t), "separators.mjs"), dir, separated}, self(t)...)...)
			require.Zero(t, got.code, "stdout: %s\nstderr: %s", got.stdout, got.stderr)
			var r struct {
				Initialized struct {
					AgentInfo acp.Implementation
					Meta      acp.Meta `json:"_meta"`
				}
				Opened, Prompted struct {
					SessionID string
					Meta      acp.Meta `json:"_meta"`
				}
				Updates, Replayed json.RawMessage
				Asked             []struct {
					What  string
					Value struct {
						ToolCall struct {
							ToolCallID, Title string
							RawInput          json.RawMessage
						}
						Path, Content string
					}
				}
				Called map[string]json.RawMessage
			}
			require.NoError(t, json.Unmarshal([]byte(got.stdout), &r), "%s", got.stdout)
			assert.Equal(t, separated, r.Initialized.AgentInfo.Name)
			for _, meta := range []acp.Meta{r.Initialized.Meta, r.Opened.Meta, r.Prompted.Meta} {
				assert.Equal(t, separatorsMeta, meta)
			}
			assert.JSONEq(t, separatorsNotifications(t, dir), string(r.Updates))
			assert.JSONEq(t, separatorsNotifications(t, dir), string(r.Replayed))
			require.Len(t, r.Asked, 3, "a question, a write and a read")
			assert.Equal(t, separated, r.Asked[0].Value.ToolCall.ToolCallID)
			assert.Equal(t, separated, r.Asked[0].Value.ToolCall.Title)
			assert.JSONEq(t, string(separatorsRaw), string(r.Asked[0].Value.ToolCall.RawInput))
			assert.Equal(t, dir+"/"+separated, r.Asked[1].Value.Path)
			assert.Equal(t, separated+"\n"+separated, r.Asked[1].Value.Content)
			assert.JSONEq(t, `{"`+separated+`": ["`+separated+`"]}`, string(r.Called["_interop/"+separated]))
		})
		t.Run("acpx", func(t *testing.T) {
			dir, home := pairtest.TempDir(t), pairtest.TempDir(t)
			command := append([]string{node}, acpx(t, dir, self(t), "--approve-all", "--format", "json", "exec", separated)[1:]...)
			got := run(t, dir, append(selfEnv("separators"), "HOME="+home), "", command...)
			require.Zero(t, got.code, "stdout: %s\nstderr: %s", got.stdout, got.stderr)
			var updates [][]byte
			for line := range strings.Lines(got.stdout) { // only line feeds end them
				e, ok := open(line)
				require.True(t, ok, line)
				if e.Method == "session/update" {
					updates = append(updates, e.Params)
				}
			}
			assert.JSONEq(t, separatorsNotifications(t, dir), "["+string(bytes.Join(updates, []byte(",")))+"]")
		})
	})
}
