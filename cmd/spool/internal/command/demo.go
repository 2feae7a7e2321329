package command

import (
	"context"
	"fmt"
	"time"
	_ "time/tzdata" // an image of the binary alone has no time zones

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/tool"
)

// demoDelay is the pause between two words of the demo model: long enough to see them stream.
const demoDelay = 30 * time.Millisecond

// demo sets up the demo model and an agent with two tools and two subagents, so that everything can be
// tried without a key or a network.
func (s *setup) demo() {
	s.engine.Models = map[string]spool.Model{"demo": demo.New(demo.Config{Delay: demoDelay})}
	s.engine.Agents = []spool.Agent{{
		Name: "assistant", Model: "demo", Tools: []spool.Tool{clockTool(), emailTool()},
		Spawn: &spool.Spawn{Profiles: map[string]spool.Profile{
			"mailer":     {Description: "Writes emails.", Tools: []spool.Tool{emailTool()}},
			"researcher": {Description: "Knows the time, and whom to ask.", Tools: []spool.Tool{clockTool()}, Spawns: true},
		}},
	}}
	s.models = []description{{"demo", demoRemark}}
	s.tools = []description{
		{"clock", ""},
		{"send_email", "asks first, and only pretends"},
		{spool.SpawnTool, "asks mailer or researcher"},
	}
}

const demoRemark = "repeats the prompt; not a language model"

// clockTool may be repeated after a crash.
func clockTool() spool.Tool {
	type in struct {
		Zone string `json:"zone,omitempty" jsonschema:"name of a time zone such as Europe/Oslo; UTC if left out"`
	}
	type out struct {
		Time string `json:"time"`
	}
	t := tool.New("clock", "Tells the date and the time.", func(_ context.Context, in in) (out, error) {
		zone, err := time.LoadLocation(in.Zone)
		if err != nil {
			return out{}, fmt.Errorf("there is no time zone %q", in.Zone)
		}
		return out{time.Now().In(zone).Format(time.RFC3339)}, nil
	})
	t.Idempotent = true
	return t
}

// emailTool shows what an approval looks like.
func emailTool() spool.Tool {
	type in struct {
		To   string `json:"to"`
		Text string `json:"text,omitempty"`
	}
	type out struct {
		Pretended string `json:"pretended"`
	}
	t := tool.New("send_email", "Pretends to send an email, once a person allows it. Nothing is sent.",
		func(_ context.Context, in in) (out, error) {
			return out{"No email was sent to " + in.To + ": this tool is a demo."}, nil
		})
	t.Approval = spool.AlwaysApprove
	return t
}
