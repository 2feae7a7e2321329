// Package cloud makes models of Claude on Amazon Bedrock and on Google Vertex AI. They are models of package
// model/anthropic with another access.
//
// The package is a module of its own, because the clients of both clouds are large, and other programs need
// neither.
//
// Both clouds are behind Anthropic's own service. So the models buffer the input of tool calls
// ([anthropic.Config.BufferedInput]), and get the form of an output by a tool, unless the configuration says
// otherwise ([anthropic.Config.Output]). Images and PDFs must be data and not URLs.
package cloud

import "github.com/spoolhq/spool/model/anthropic"

// careful changes the defaults of a configuration.
func careful(config anthropic.Config) anthropic.Config {
	config.BufferedInput = true
	if config.Output == "" {
		config.Output = anthropic.OutputTool
	}
	return config
}
