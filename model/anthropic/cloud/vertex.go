package cloud

import (
	"context"
	"fmt"

	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/vertex"
	"golang.org/x/oauth2/google"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/model/anthropic"
)

// VertexAccess is the access to Google Vertex AI.
type VertexAccess struct {
	// Region is that of the endpoint, such as "europe-west1" or "global". Required.
	Region string
	// Project is the id of the Google Cloud project. Required.
	Project string
	// Credentials get tokens. google.FindDefaultCredentials of golang.org/x/oauth2/google finds those of the
	// machine, with the scope "https://www.googleapis.com/auth/cloud-platform". Required.
	Credentials *google.Credentials
}

// NewVertex returns a model on Google Vertex AI. Config.Model is Vertex's name of the model, such as
// "claude-sonnet-4-5@20250929". Config.APIKey must be empty. Config.BaseURL defaults to that of the region.
//
// NewVertex makes no request. It returns an [spool.Invalid] error that names the wrong field. A request waits for
// a token if the last one has expired.
func NewVertex(ctx context.Context, config anthropic.Config, access VertexAccess) (*anthropic.Model, error) {
	switch {
	case config.APIKey != "":
		return nil, spool.Errorf(spool.Invalid, "APIKey is not for Vertex, which has its own credentials")
	case access.Region == "":
		return nil, spool.Errorf(spool.Invalid, "Region of the access is required")
	case access.Project == "":
		return nil, spool.Errorf(spool.Invalid, "Project of the access is required")
	case access.Credentials == nil || access.Credentials.TokenSource == nil:
		return nil, spool.Errorf(spool.Invalid, "Credentials of the access are required")
	}
	with, err := vertexOption(ctx, access)
	if err != nil {
		return nil, err
	}
	return newModel(config, "vertex", with)
}

// vertexOption returns the SDK's option, which panics if it cannot be made.
func vertexOption(ctx context.Context, access VertexAccess) (with option.RequestOption, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &spool.Error{
				Code: spool.Invalid, Message: "the access to Vertex AI cannot be used", Err: fmt.Errorf("panic: %v", r),
			}
		}
	}()
	return vertex.WithCredentials(ctx, access.Region, access.Project, access.Credentials), nil
}
