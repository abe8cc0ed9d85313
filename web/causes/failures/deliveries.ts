import { plural, t } from "@lingui/core/macro";
import type { deliverySentences } from "../../../contract/failures/deliveries.ts";
import type { SentenceValues } from "../../../contract/sentences.ts";

/** Why webhooks and deliveries fail or are switched off. */
export const deliveryTexts: {
  readonly [Code in keyof typeof deliverySentences]: (values: SentenceValues<Code>) => string;
} = {
  hook_gone: () => t`the receiver responded with 410 Gone`,
  hook_dead: () => t`every attempt of five days failed`,
  delivery_dead: () => t`every attempt of three days failed`,
  hook_by_owner: () => t`disabled by its owner`,
  delivery_by_user: () => t`disabled by a user`,
  hook_token_expired: () => t`the token that created it expired`,
  hook_token_revoked: () => t`the token that created it was revoked`,
  hook_app_expired: () => t`the access of the app that created it expired`,
  hook_app_revoked: () => t`the access of the app that created it was revoked`,
  hook_deactivated: () => t`the account it belongs to was deactivated`,
  hook_viewer: () => t`the user it belongs to became a viewer`,
  hook_no_admin: () => t`the user it belongs to is no longer an admin`,
  hook_email_proved: () => t`the owner of the account proved the email`,
  hook_unknown: () => t`unknown reason`,
  hook_not_rendered: () =>
    t`nothing was sent: the payload could not be rendered; the server's log has the reason`,
  hook_secret_lost: () =>
    t`nothing was sent: the secret of the webhook can't be decrypted, because PARLEY_SECRET was changed; replace the webhook's secret`,
  hook_password_lost: () =>
    t`nothing was sent: the password of the webhook's URL can't be decrypted, because PARLEY_SECRET was changed; create the webhook again`,
  delivery_url_lost: () =>
    t`nothing was sent: the URL can't be decrypted, because PARLEY_SECRET was changed; enter the URL again`,
  delivery_failed: () => t`nothing was sent: an error occurred on the server, whose log has the reason`,
  delivery_interrupted: () =>
    t`the server stopped during this request, so the message may or may not have arrived; resend it if it is missing`,
  delivery_recording_gone: () => t`the recording was deleted`,
  delivery_queued: () => t`queued for the participants`,
  delivery_queued_some: ({ count }) =>
    plural(Number(count), {
      one: "queued for # of the participants",
      other: "queued for # of the participants",
    }),
  delivery_queued_limited: ({ count, limited }) =>
    plural(Number(limited), {
      one: `queued for ${count} of the participants; # has got as many as one user is sent in a day`,
      other: `queued for ${count} of the participants; # have got as many as one user is sent in a day`,
    }),
  delivery_file_tried: ({ file }) => t`wrote and removed ${file}`,
  delivery_names_taken: ({ count }) =>
    plural(Number(count), {
      one: "# file with this name exists, which Parley did not write",
      other: "# files with this name exist, which Parley did not write",
    }),
};
