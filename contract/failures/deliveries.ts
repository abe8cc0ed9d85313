/** Why webhooks and deliveries fail or are switched off. Triggers in `migrations/current/hooks.sql` write some of them. */
export const deliverySentences = {
  hook_gone: "the receiver responded with 410 Gone",
  hook_dead: "every attempt of five days failed",
  delivery_dead: "every attempt of three days failed",
  hook_by_owner: "disabled by its owner",
  delivery_by_user: "disabled by a user",
  hook_token_expired: "the token that created it expired",
  hook_token_revoked: "the token that created it was revoked",
  hook_app_expired: "the access of the app that created it expired",
  hook_app_revoked: "the access of the app that created it was revoked",
  hook_deactivated: "the account it belongs to was deactivated",
  hook_viewer: "the user it belongs to became a viewer",
  hook_no_admin: "the user it belongs to is no longer an admin",
  hook_email_proved: "the owner of the account proved the email",
  hook_unknown: "unknown reason",
  hook_not_rendered: "nothing was sent: the payload could not be rendered; the server's log has the reason",
  hook_secret_lost:
    "nothing was sent: the secret of the hook can't be decrypted, because PARLEY_SECRET was changed; rotate the hook's secret",
  hook_password_lost:
    "nothing was sent: the password of the hook's URL can't be decrypted, because PARLEY_SECRET was changed; create the hook again",
  delivery_url_lost:
    "nothing was sent: the URL can't be decrypted, because PARLEY_SECRET was changed; enter the URL again",
  delivery_failed: "nothing was sent: an error occurred on the server, whose log has the reason",
  delivery_interrupted:
    "the server stopped during this request, so the message may or may not have arrived; resend it if it is missing",
  delivery_recording_gone: "the recording was deleted",
  delivery_queued: "queued for the participants",
  delivery_queued_some: "queued for {count} of the participants",
  delivery_queued_limited:
    "queued for {count} of the participants; {limited} have got as many as one user is sent in a day",
  delivery_file_tried: "wrote and removed {file}",
  delivery_names_taken: "{count} files with this name exist, which Parley did not write",
} as const;
