package cloud

import (
	"github.com/anthropics/anthropic-sdk-go/bedrock"
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/anthropic"
)

// NewBedrock returns a model on Amazon Bedrock. Config.Model is the id of a model or of an inference profile, such as
// "eu.anthropic.claude-sonnet-4-5-20250929-v1:0". Config.APIKey must be empty. Config.BaseURL is for an endpoint
// in a private network, and defaults to that of the region.
//
// The access has a region, and credentials with which requests are signed, or a provider of bearer tokens. Package
// github.com/aws/aws-sdk-go-v2/config loads one from the environment and from files. The environment variable
// AWS_BEARER_TOKEN_BEDROCK goes before it.
//
// NewBedrock makes no request. It returns an [spool.Invalid] error that names the wrong field.
func NewBedrock(config anthropic.Config, access aws.Config) (*anthropic.Model, error) {
	switch {
	case config.APIKey != "":
		return nil, spool.Errorf(spool.Invalid, "APIKey is not for Bedrock, which has its own credentials")
	case access.Region == "":
		return nil, spool.Errorf(spool.Invalid, "Region of the access is required")
	case access.Credentials == nil && access.BearerAuthTokenProvider == nil:
		return nil, spool.Errorf(spool.Invalid, "Credentials of the access are required")
	}
	return newModel(config, "bedrock", bedrock.WithConfig(access))
}
