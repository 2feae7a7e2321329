# Verifies deliveries with the library of the standard: JSON in, a line for each out.
import base64
import json
import sys

from standardwebhooks import Webhook, WebhookVerificationError

for d in json.load(sys.stdin):
    try:
        Webhook(d["secret"]).verify(base64.b64decode(d["body"]), d["headers"])
        print(d["name"], "accepted")
    except WebhookVerificationError:
        print(d["name"], "refused")
