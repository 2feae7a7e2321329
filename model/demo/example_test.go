package demo_test

import (
	"context"
	"fmt"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/demo"
)

func ExampleNew() {
	model := demo.New(demo.Config{})
	request := spool.ModelRequest{
		Messages: []spool.Message{{Role: spool.RoleUser, Content: spool.TextContent(`use weather with {"city":"Oslo"}`)}},
		Tools:    []spool.ToolSpec{{Name: "weather", Description: "Tells the weather."}},
	}
	for event, err := range model.Stream(context.Background(), request) {
		switch e := event.(type) {
		case nil:
			fmt.Println(err)
		case spool.TextDelta:
			fmt.Print(e.Text)
		case spool.ToolCallEnd:
			fmt.Println("\n->", e.Name, e.Args)
		case spool.Finish:
			fmt.Println(e.Reason)
		}
	}
	// Output:
	// (demo model, not a language model) I call weather.
	// -> weather {"city":"Oslo"}
	// tool-calls
}
