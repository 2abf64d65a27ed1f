package main

// methodFlags is what the method table knows beyond the facts.
type methodFlags struct {
	capability string // that the handling end advertises
	strict     bool   // the prose's rules hold for params that arrive
	waits      bool   // waits for people or processes
	streams    bool   // updates flow while the call waits
}

// methods are the flags of all methods; a notification's key ends with "!".
var methods = rows(map[string]methodFlags{
	"initialize":                 {},
	"authenticate":               {},
	"logout":                     {capability: "auth.logout"},
	"session/new":                {strict: true},
	"session/load":               {capability: "loadSession", strict: true, waits: true, streams: true},
	"session/resume":             {capability: "sessionCapabilities.resume", strict: true, streams: true},
	"session/fork":               {capability: "sessionCapabilities.fork", strict: true},
	"session/list":               {capability: "sessionCapabilities.list"},
	"session/delete":             {capability: "sessionCapabilities.delete"},
	"session/close":              {capability: "sessionCapabilities.close"},
	"session/archive":            {capability: "sessionCapabilities.archive"},
	"session/unarchive":          {capability: "sessionCapabilities.archive"},
	"session/status":             {capability: "sessionCapabilities.status"},
	"session/set_title":          {capability: "sessionCapabilities.title"},
	"session/set_mode":           {},
	"session/set_config_option":  {},
	"session/prompt":             {waits: true, streams: true},
	"session/cancel!":            {},
	"session/update!":            {},
	"session/request_permission": {waits: true},
	"fs/read_text_file":          {capability: "fs.readTextFile"},
	"fs/write_text_file":         {capability: "fs.writeTextFile"},
	"terminal/create":            {capability: "terminal"},
	"terminal/output":            {capability: "terminal"},
	"terminal/wait_for_exit":     {capability: "terminal", waits: true},
	"terminal/kill":              {capability: "terminal"},
	"terminal/release":           {capability: "terminal"},
	"elicitation/create":         {capability: "elicitation", waits: true},
	"elicitation/complete!":      {capability: "elicitation.url"},
	"providers/list":             {capability: "providers"},
	"providers/set":              {capability: "providers"},
	"providers/disable":          {capability: "providers"},
	"auth/status":                {capability: "auth.status"},
	"auth/status_update!":        {},
	"mcp/message":                {}, // the agent advertises it for both directions
	"mcp/message!":               {capability: "mcpCapabilities.acp"},
	"proxy/initialize":           {},
	"proxy/successor":            {},
	"proxy/successor!":           {},
	"$/cancel_request!":          {},
})
