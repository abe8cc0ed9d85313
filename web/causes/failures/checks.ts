import { plural, t } from "@lingui/core/macro";
import type { checkSentences } from "../../../contract/failures/checks.ts";
import type { SentenceValues } from "../../../contract/sentences.ts";
import { whenText } from "../values.ts";

/** What the checks of the System page find. */
export const checkTexts: {
  readonly [Code in keyof typeof checkSentences]: (values: SentenceValues<Code>) => string;
} = {
  check_no_response: ({ seconds }) => t`there was no response within ${seconds} s`,
  check_it_slow: ({ seconds }) => t`it did not respond within ${seconds} s`,
  check_host_slow: ({ host, seconds }) => t`${host} did not respond within ${seconds} s`,
  check_no_response_in_time: () => t`there was no response in time`,
  bucket_responds_at: ({ bucket, host }) =>
    t`Files are stored in the bucket ${bucket} at ${host}, which responds.`,
  bucket_written_at: ({ bucket, host }) =>
    t`An object was written, read and deleted in the bucket ${bucket} at ${host}.`,
  storage_migrating: ({ target }) =>
    t`Files are in two stores, which respond, because their migration is not finished; \`parley storage migrate --to ${target} --remove-source\` finishes it.`,
  database_unusable: ({ reason }) => t`the database can't be used: ${reason}`,
  backups_failed: ({ reason }) => t`The last backup run failed: ${reason}`,
  backups_lack_one: (values) => {
    const time = whenText(`${values.time.replace(" ", "T")}Z`);
    const { files } = values;
    return plural(1, {
      one: `The last backup is from ${time} and lacks # file that the file store did not have as written: ${files}.`,
      other: `The last backup is from ${time} and lacks # files that the file store did not have as written: ${files}.`,
    });
  },
  backups_lack: (values) => {
    const time = whenText(`${values.time.replace(" ", "T")}Z`);
    const { count, files } = values;
    return plural(Number(count), {
      one: `The last backup is from ${time} and lacks # file that the file store did not have as written: ${files}.`,
      other: `The last backup is from ${time} and lacks # files that the file store did not have as written: ${files}.`,
    });
  },
  backups_unstored: ({ destination, reason }) => t`Backups can't be stored in ${destination}: ${reason}`,
  mail_waiting_one: ({ reason }) =>
    plural(1, {
      one: `# email could not be sent yet. The last error: ${reason}`,
      other: `# emails could not be sent yet. The last error: ${reason}`,
    }),
  mail_waiting: ({ count, reason }) =>
    plural(Number(count), {
      one: `# email could not be sent yet. The last error: ${reason}`,
      other: `# emails could not be sent yet. The last error: ${reason}`,
    }),
  mail_refused_email: ({ host, reason }) => t`The mail server at ${host} refused the email: ${reason}`,
  mail_refused_sender: ({ host, reason }) => t`The mail server at ${host} refused the sender: ${reason}`,
  mail_refused_recipient: ({ host, reason }) =>
    t`The mail server at ${host} refused the recipient: ${reason}`,
  mail_no_greeting: ({ host }) =>
    t`The mail server at ${host} accepted the connection, but did not greet as mail servers do`,
  mail_slow: ({ host }) => t`The mail server at ${host} did not respond in time`,
  mail_unreachable: ({ host, reason }) => t`The mail server at ${host} can't be reached: ${reason}`,
  mail_operator_remedy: ({ from }) =>
    t`Check with the mail server's operator that it accepts emails from ${from} (PARLEY_SMTP_FROM).`,
  jobs_stopped_one: ({ reason }) =>
    plural(1, {
      one: `# recording could not be processed since the last success. The last error: ${reason}`,
      other: `# recordings could not be processed since the last success. The last error: ${reason}`,
    }),
  jobs_stopped: ({ count, reason }) =>
    plural(Number(count), {
      one: `# recording could not be processed since the last success. The last error: ${reason}`,
      other: `# recordings could not be processed since the last success. The last error: ${reason}`,
    }),
  jobs_waiting_one: ({ reason }) =>
    plural(1, {
      one: `# recording could not be processed yet. The last error: ${reason}`,
      other: `# recordings could not be processed yet. The last error: ${reason}`,
    }),
  jobs_waiting: ({ count, reason }) =>
    plural(Number(count), {
      one: `# recording could not be processed yet. The last error: ${reason}`,
      other: `# recordings could not be processed yet. The last error: ${reason}`,
    }),
  model_ok_at: ({ model, host }) =>
    t`The model ${model} at ${host} is set up. No recording is waiting after a failure.`,
  model_ok_built_in: ({ model }) =>
    t`The model ${model} of the built-in engine is set up. No recording is waiting after a failure.`,
  model_ok_workers: () =>
    t`The model of the built-in engine on the workers is set up. No recording is waiting after a failure.`,
  model_ok_language: ({ model }) =>
    t`The model ${model}, which is built in, is set up. No recording is waiting after a failure.`,
  server_heard_at: ({ model, host, text }) =>
    t`The model ${model} at ${host} transcribed a spoken sentence as “${text}”.`,
  engine_slow: ({ seconds }) => t`The built-in engine did not finish within ${seconds} s`,
  language_model_slow: ({ seconds }) => t`The built-in language model did not respond within ${seconds} s`,
  model_loading_remedy: ({ setting }) =>
    t`It may be loading the model: try again. Otherwise check that the server is running and ${setting} is right.`,
  model_server_remedy: ({ setting }) =>
    t`Check that the server is running, and that ${setting} is its URL as this server reaches it.`,
  sign_in_unusable: ({ issuer, reason }) => t`The provider at ${issuer} can't be used: ${reason}`,
  sign_in_refuses: ({ issuer, error }) =>
    t`the provider at ${issuer} refuses sign-ins (${error}); check what the client is allowed there`,
  sign_in_refuses_client: ({ issuer, status, uri, client }) =>
    t`the provider at ${issuer} refuses the client or its redirect URI (status ${status}); register the redirect URI ${uri} for ${client}`,
  sign_in_accepts_both: ({ issuer, uri, methods }) =>
    t`${issuer} responds, accepts the redirect URI ${uri} and the client secret (${methods}).`,
  sign_in_accepts_uri: ({ issuer, uri, methods }) =>
    t`${issuer} responds, accepts the redirect URI ${uri} and takes the client secret by ${methods}.`,
  sign_in_accepts_secret: ({ issuer, uri, methods }) =>
    t`${issuer} responds, does not say whether it accepts the redirect URI ${uri} and the client secret (${methods}).`,
  sign_in_says_nothing: ({ issuer, uri, methods }) =>
    t`${issuer} responds, does not say whether it accepts the redirect URI ${uri} and takes the client secret by ${methods}.`,
};
