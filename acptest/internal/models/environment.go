package models

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// environment returns the variables of the agents that are known, which read them beside a file in
// their home folder. The home folder of the user is not used: it may have keys, and settings that
// lead to another model.
func environment(kind, home, url string) ([]string, error) {
	opencode, err := json.Marshal(map[string]any{
		"model": "fake/" + model, "autoupdate": false,
		"permission": map[string]any{"edit": "ask", "bash": "ask"},
		"provider": map[string]any{"fake": map[string]any{"npm": "@ai-sdk/openai-compatible", "name": "fake",
			"options": map[string]any{"baseURL": url + "/v1", "apiKey": "fake"},
			"models":  map[string]any{model: map[string]any{"name": model}}}},
	})
	if err != nil {
		return nil, err
	}
	for name, text := range map[string]string{
		".codex/config.toml": fmt.Sprintf("model = %q\nmodel_provider = \"fake\"\napproval_policy = \"on-request\"\nsandbox_mode = \"read-only\"\n"+
			"[model_providers.fake]\nname = \"fake\"\nbase_url = %q\nwire_api = \"responses\"\nrequest_max_retries = 0\nstream_max_retries = 0\n", model, url+"/v1"),
		"opencode.json":         string(opencode),
		".qwen/settings.json":   `{"security":{"auth":{"selectedType":"openai"}},"tools":{"approvalMode":"default"}}`,
		".claude/settings.json": `{"permissions":{"defaultMode":"default"}}`,
	} {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	env := []string{
		"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "XDG_DATA_HOME=" + filepath.Join(home, ".local"), "XDG_STATE_HOME=" + filepath.Join(home, ".state"),
		"DISABLE_TELEMETRY=1", "GOOSE_MODEL=" + model, "GOOSE_MODE=approve", "GOOSE_DISABLE_KEYRING=1", "GOOSE_DISABLE_SESSION_NAMING=true",
		"CODEX_HOME=" + filepath.Join(home, ".codex"), "INITIAL_AGENT_MODE=read-only", "OPENCODE_CONFIG=" + filepath.Join(home, "opencode.json"),
	}
	if kind == "anthropic" {
		return append(env, "GOOSE_PROVIDER=anthropic", "ANTHROPIC_HOST="+url, "ANTHROPIC_BASE_URL="+url, "ANTHROPIC_API_KEY=fake",
			"CLAUDE_CONFIG_DIR="+filepath.Join(home, ".claude"), "IS_SANDBOX=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"), nil
	}
	return append(env, "GOOSE_PROVIDER=openai", "BASE_URL="+url+"/v1", "API_KEY=fake", "MODEL="+model,
		"OPENAI_API_KEY=fake", "OPENAI_BASE_URL="+url+"/v1", "OPENAI_MODEL="+model, "OPENAI_HOST="+url), nil
}
