package kit

import (
	"context"
	"errors"
	"strings"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/agent"
	"github.com/acpkit/go-sdk/agent/tools"
)

type askInput struct {
	Question string   `json:"question" description:"one question, with all that is needed to answer it" validate:"required,min=1,max=4000"`
	Answers  []string `json:"answers,omitempty" description:"the possible answers, if there are only a few" validate:"max=20,dive,min=1,max=200"`
}

// AskTool returns a tool with which the model asks the person. A client with forms shows one. Any other
// one shows the question as a message, and the answer is the next prompt.
func (s *Session) AskTool() tools.Tool {
	t := tools.Typed("ask_person", "Asks the person a question. Use it when you cannot go on without an answer, and never for a secret.", s.askPerson)
	t.Title, t.Kind, t.Effect = "Ask the person", acp.ToolKindThink, tools.Reads
	return t
}

func (s *Session) askPerson(ctx context.Context, _ *tools.Call, in askInput) (tools.Result, error) {
	if !s.conn.ClientCapabilities().Has("elicitation.form") {
		text := in.Question
		if len(in.Answers) > 0 {
			text += "\n\n- " + strings.Join(in.Answers, "\n- ")
		}
		err := errors.Join(s.EndMessage(), s.Text(ctx, text), s.EndMessage())
		return tools.Text("The person reads the question now. End your turn: the answer is the next prompt."), err
	}
	values, err := s.client.AskForm(ctx, in.Question, acp.ElicitationSchema{
		Properties: map[string]acp.ElicitationPropertySchema{"answer": &acp.StringPropertySchema{Title: "Answer", Enum: in.Answers}},
		Required:   []string{"answer"},
	})
	switch answer, ok := values["answer"].(acp.ElicitationString); {
	case errors.Is(err, agent.ErrNoInput), err == nil && (!ok || answer == ""):
		return tools.Text("The person does not want to answer. Go on without, or end your turn."), nil
	case err != nil:
		return tools.Result{}, err
	default:
		return tools.Text(string(answer)), nil
	}
}
