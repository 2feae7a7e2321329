package command

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/webhook"
)

// maxTemplateFile is the size of the largest file of a template, in bytes.
const maxTemplateFile = 1 << 20

// tell says who is told of events. The configuration's file is at path. The server is configured before.
//
// The keys of auth.stream_token_keys encrypt the endpoints of the API, and sign the links to questions: a key of the
// process's own would open nothing in another process, and nothing after a restart.
func (s *setup) tell(c *config.Config, path string, policy egress.Policy) error {
	w := c.Webhooks
	// What tools may reach, endpoints of the API may not: whoever makes one reads how each attempt was answered.
	sender, err := webhook.NewSender(webhook.Config{
		Egress: egress.Policy{AllowPrivate: policy.AllowPrivate}, Listed: slices.Concat(policy.Allow, w.Private),
	})
	if err != nil {
		return w.Errorf("private: %s", spool.MessageOf(err))
	}
	o := &s.engine.Webhooks
	*o = option.Webhooks{
		Sender: sender, MaxEndpoints: w.MaxEndpoints, Keep: w.Keep, MayApprove: server.MayApprove(c.LinkApprovers),
		MayTell: s.rights(c).mayTell, MaxAge: w.MaxAge,
	}
	linked := s.server
	linked.PublicURL = c.PublicURL
	if len(c.StreamTokenKeys) > 0 {
		if o.Vault, err = server.NewVault(linked.StreamTokenKeys); err != nil {
			return err
		}
		if c.PublicURL != "" {
			if o.Link, err = server.NewWebhookLink(linked); err != nil {
				return err
			}
		}
	}
	var problems []error
	for _, e := range w.Endpoints {
		problems = append(problems, s.endpoint(c, path, e))
	}
	for _, h := range w.Hosts {
		o.Hosts = append(o.Hosts, h.WebhookHost)
	}
	return errors.Join(problems...)
}

// endpoint adds an endpoint of the configuration.
func (s *setup) endpoint(c *config.Config, path string, e config.WebhookEndpoint) error {
	o := &s.engine.Webhooks
	var problems []error
	const field = "url"
	if err := o.Sender.CheckURL(field, e.URL, true); err != nil {
		problems = append(problems, e.At(field).Errorf("%s", strings.TrimPrefix(spool.MessageOf(err), field+" ")))
	}
	if e.TemplateFile != "" {
		text, err := readTemplate(path, e.TemplateFile)
		if err != nil {
			return errors.Join(append(problems, e.At("template_file").Errorf("%s", err))...)
		}
		e.Form.Template = text
	}
	if _, err := webhook.NewForm(e.Form); err != nil {
		problems = append(problems, e.Problem(spool.MessageOf(err)))
	}
	if e.Approver != "" {
		switch at := e.At("approver"); {
		case len(c.StreamTokenKeys) == 0:
			problems = append(problems, at.Errorf("needs auth.stream_token_keys, which sign the links"))
		case c.PublicURL == "":
			problems = append(problems, at.Errorf("needs server.public_url, where the links lead"))
		case !o.MayApprove(e.Approver):
			problems = append(problems, at.Errorf("is not one of auth.link_approvers"))
		}
	}
	o.Endpoints = append(o.Endpoints, e.WebhookEndpoint)
	return errors.Join(problems...)
}

// readTemplate reads the file of a template, relative to the folder of the configuration. The error does not name the
// file, whose name may come from the environment.
func readTemplate(config, name string) (string, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(config), name)
	}
	f, err := os.Open(name)
	if err != nil {
		if perr := (*os.PathError)(nil); errors.As(err, &perr) {
			err = perr.Err
		}
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxTemplateFile+1))
	switch {
	case err != nil:
		return "", errors.New("cannot be read")
	case len(text) > maxTemplateFile:
		return "", errors.New("is larger than 1 MiB")
	}
	return string(text), nil
}
