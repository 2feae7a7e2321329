// Package cloud makes models of Claude on Amazon Bedrock and on Google Vertex AI. They are models of package
// model/anthropic over the client of Anthropic's SDK, which signs requests and changes their paths, their bodies and
// the form of the answers.
//
// The package is a module of its own, because the SDK and the clients of both clouds are large, and other programs need
// none of them.
//
// Both clouds are behind Anthropic's own service. So the models buffer the input of tool calls
// ([anthropic.Config.BufferedInput]), and get the form of an output by a tool, unless the configuration says
// otherwise ([anthropic.Config.Output]). Images and PDFs must be data and not URLs.
package cloud
