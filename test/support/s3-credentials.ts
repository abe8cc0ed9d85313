import { after } from "node:test";

const names = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] as const;

/**
 * Sets the credentials that the S3 library reads from the environment, as it does in a server, and takes them away after the
 * tests of the calling file.
 * @param credentials default: some that no server knows.
 */
export function setS3Credentials(
  credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } = {
    accessKeyId: "none",
    secretAccessKey: "none",
  },
): void {
  const before = names.map((name) => [name, process.env[name]] as const);
  [process.env.AWS_ACCESS_KEY_ID, process.env.AWS_SECRET_ACCESS_KEY] = [
    credentials.accessKeyId,
    credentials.secretAccessKey,
  ];
  after(() => {
    for (const [name, value] of before)
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  });
}
