package host

import (
	"context"
	"errors"

	"github.com/acpkit/go-sdk/acp"
	"github.com/acpkit/go-sdk/client/elicitation"
	"github.com/acpkit/go-sdk/client/files"
	"github.com/acpkit/go-sdk/client/permission"
	"github.com/acpkit/go-sdk/client/signin"
	"github.com/acpkit/go-sdk/client/terminals"
)

// Options configure a [Host]. With the zero value it offers nothing and denies
// everything.
type Options struct {
	// Roots are the folders that agents may use; a session gets those of its folders that
	// are in one of Roots. With none there are neither files nor terminals.
	Roots []string
	// ReadOnly disables writing.
	ReadOnly bool
	// Files are further options for files. Their Roots must be empty.
	Files *files.Options

	// Terminals, if not nil, enables terminals. Commands run with the rights of the user.
	Terminals *terminals.Options

	// Ask asks the user about what the agent wants to do; see permission.Options. Nil means
	// that only rules allow anything.
	Ask func(ctx context.Context, q *permission.Question) (optionID string, err error)
	// Rules are the first rules of the policy; see permission.Policy.SetRules.
	Rules []permission.Rule
	// Permission are further options of the policy. Their Ask must be nil.
	Permission *permission.Options

	// Form asks the user to fill in a form of the agent; nil disables forms.
	Form elicitation.AskForm
	// Page asks the user whether a web page of the agent may be opened, and opens it; nil
	// disables pages. It requires Form. PageDone is called when the user has finished on a
	// page.
	Page     func(ctx context.Context, p *elicitation.Page) error
	PageDone func(acp.ElicitationID)

	// Update is called for each update, in order; the next message of the agent waits for
	// it. Nil drops them.
	Update func(ctx context.Context, n *acp.SessionNotification) error

	// SignIn configures how the user signs in if the agent requires it; see [Host.SignIn]. If
	// SignIn.RunsCommands reports true, the client advertises that the user can sign in on a terminal.
	// Nil means that the user cannot sign in here.
	SignIn *signin.Options
}

func (o *Options) check() error {
	switch {
	case o.Files != nil && len(o.Files.Roots) > 0:
		return errors.New("host: Options.Files.Roots is set: use Options.Roots")
	case o.Permission != nil && o.Permission.Ask != nil:
		return errors.New("host: Options.Permission.Ask is set: use Options.Ask")
	case o.Terminals != nil && len(o.Roots) == 0:
		return errors.New("host: Options.Terminals is set without Options.Roots: commands need a folder to run in")
	case o.Page != nil && o.Form == nil:
		return errors.New("host: Options.Page is set without Options.Form: clients that open pages show forms too")
	case o.PageDone != nil && o.Page == nil:
		return errors.New("host: Options.PageDone is set without Options.Page")
	}
	return nil
}
