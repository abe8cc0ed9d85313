/** What is wrong with a part of the installation. "1 …" and "{count} …" are a text each, because languages count differently. */
export const checkSentences = {
  check_no_response: "there was no response within {seconds} s",
  check_it_slow: "it did not respond within {seconds} s",
  check_host_slow: "{host} did not respond within {seconds} s",
  check_no_response_in_time: "there was no response in time",
  bucket_responds_at: "Files are stored in the bucket {bucket} at {host}, which responds.",
  bucket_written_at: "An object was written, read and deleted in the bucket {bucket} at {host}.",
  storage_migrating:
    "Files are stored in {places}, which respond, because their migration is not finished; `parley storage migrate --to {target} --remove-source` finishes it.",
  database_unusable: "the database can't be used: {reason}",
  backups_failed: "The last backup run failed: {reason}",
  backups_lack_one:
    "The last backup is from {time} UTC and lacks 1 file that the file store did not have as written: {files}.",
  backups_lack:
    "The last backup is from {time} UTC and lacks {count} files that the file store did not have as written: {files}.",
  backups_unstored: "Backups can't be stored in {destination}: {reason}",
  mail_waiting_one: "1 email could not be sent yet. The last error: {reason}",
  mail_waiting: "{count} emails could not be sent yet. The last error: {reason}",
  mail_refused_email: "The mail server at {host} refused the email: {reason}",
  mail_refused_sender: "The mail server at {host} refused the sender: {reason}",
  mail_refused_recipient: "The mail server at {host} refused the recipient: {reason}",
  mail_no_greeting: "The mail server at {host} accepted the connection, but did not greet as mail servers do",
  mail_slow: "The mail server at {host} did not respond in time",
  mail_unreachable: "The mail server at {host} can't be reached: {reason}",
  mail_operator_remedy:
    "Check with the mail server's operator that it accepts emails from {from} (PARLEY_SMTP_FROM).",
  jobs_stopped_one: "1 recording could not be processed since the last success. The last error: {reason}",
  jobs_stopped: "{count} recordings could not be processed since the last success. The last error: {reason}",
  jobs_waiting_one: "1 recording could not be processed yet. The last error: {reason}",
  jobs_waiting: "{count} recordings could not be processed yet. The last error: {reason}",
  model_ok_at: "The model {model} at {host} is set up. No recording is waiting after a failure.",
  model_ok_built_in:
    "The model {model} of the built-in engine is set up. No recording is waiting after a failure.",
  model_ok_workers:
    "The model of the built-in engine on the workers is set up. No recording is waiting after a failure.",
  model_ok_language:
    "The model {model}, which is built in, is set up. No recording is waiting after a failure.",
  server_heard_at: "The model {model} at {host} transcribed a spoken sentence as “{text}”.",
  engine_slow: "The built-in engine did not finish within {seconds} s",
  language_model_slow: "The built-in language model did not respond within {seconds} s",
  model_loading_remedy:
    "It may be loading the model: try again. Otherwise check that the server is running and {setting} is right.",
  model_server_remedy:
    "Check that the server is running, and that {setting} is its URL as this server reaches it.",
  sign_in_unusable: "The provider at {issuer} can't be used: {reason}",
  sign_in_refuses:
    "the provider at {issuer} refuses sign-ins ({error}); check what the client is allowed there",
  sign_in_refuses_client:
    "the provider at {issuer} refuses the client or its redirect URI (status {status}); register the redirect URI {uri} for {client}",
  sign_in_accepts_both:
    "{issuer} responds, accepts the redirect URI {uri} and the client secret ({methods}).",
  sign_in_accepts_uri:
    "{issuer} responds, accepts the redirect URI {uri} and takes the client secret by {methods}.",
  sign_in_accepts_secret:
    "{issuer} responds, does not say whether it accepts the redirect URI {uri} and the client secret ({methods}).",
  sign_in_says_nothing:
    "{issuer} responds, does not say whether it accepts the redirect URI {uri} and takes the client secret by {methods}.",
} as const;
