// Verifies deliveries with the library of the standard: JSON in, a line for each out.
import { readFileSync } from "node:fs";
import { Webhook, WebhookVerificationError } from "standardwebhooks";

for (const d of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    new Webhook(d.secret).verify(Buffer.from(d.body, "base64").toString("utf8"), d.headers);
    console.log(d.name, "accepted");
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    console.log(d.name, "refused");
  }
}
