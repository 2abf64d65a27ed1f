package kit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
)

// A Command is a slash command.
type Command struct {
	Name        string // without the slash
	Description string
	Hint        string // describes the arguments; empty means that there are none

	// Run handles a prompt with this command in place of Options.Turn. Prompt.Args is the text
	// after the name.
	Run func(ctx context.Context, s *Session, p *Prompt) (acp.StopReason, error)
}

// Commands are the slash commands of a session.
type Commands []Command

func commandName(text string) bool {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	return text != "" && strings.Trim(text, letters) == ""
}

func (all Commands) check() error {
	for i, c := range all {
		switch {
		case !commandName(c.Name):
			return fmt.Errorf("kit: the name %q of a command must be letters, digits, - or _", c.Name)
		case c.Run == nil:
			return fmt.Errorf("kit: the command %q has no Run", c.Name)
		case slices.ContainsFunc(all[:i], func(other Command) bool { return other.Name == c.Name }):
			return fmt.Errorf("kit: two commands have the name %q", c.Name)
		}
	}
	return nil
}

// command returns the function of a command, or nil if there is no such command: the model then
// gets the prompt.
func (s *Session) command(name string) func(context.Context, *Session, *Prompt) (acp.StopReason, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.commands {
		if c.Name == name {
			return c.Run
		}
	}
	return nil
}

// SetCommands replaces the commands of the session until it is closed, and sends their list.
func (s *Session) SetCommands(ctx context.Context, commands Commands) error {
	if err := commands.check(); err != nil {
		return err
	}
	s.mu.Lock()
	s.commands = slices.Clone(commands)
	s.mu.Unlock()
	return s.sendCommands(ctx)
}

func (s *Session) sendCommands(ctx context.Context) error {
	s.mu.Lock()
	list := make([]acp.AvailableCommand, len(s.commands))
	for i, c := range s.commands {
		list[i] = acp.AvailableCommand{Name: c.Name, Description: c.Description}
		if c.Hint != "" {
			list[i].Input = &acp.UnstructuredCommandInput{Hint: c.Hint}
		}
	}
	s.mu.Unlock()
	return s.client.SetCommands(ctx, list...)
}

// announce sends the held notices and the commands after the response that opens the session.
func (s *Session) announce(ctx context.Context) {
	agent.AfterResponse(ctx, func(ctx context.Context) { // an error means that the connection has ended
		s.mu.Lock()
		held, commands := s.held, len(s.commands)
		s.held = nil
		s.mu.Unlock()
		for _, text := range held {
			_ = s.SendNotice(ctx, text)
		}
		if commands > 0 {
			_ = s.sendCommands(ctx)
		}
	})
}
