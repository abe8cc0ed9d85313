import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

interface Wrong {
  readonly origin?: string;
  readonly rpId?: string;
  readonly challenge?: string;
  /** Flags of the authenticator data instead of "user present" and "user verified". */
  readonly flags?: number;
  readonly counter?: number;
}

/** An authenticator in software: one ES256 key without attestation. Source: https://www.w3.org/TR/webauthn-3/. */
export class Authenticator {
  readonly id = randomBytes(32);
  readonly #keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  readonly #origin: string;
  #counter = 0;
  constructor(origin: string) {
    this.#origin = origin;
  }

  /** The response of a browser that has created the passkey. */
  create(options: Options, wrong: Wrong = {}) {
    const { x = "", y = "" } = this.#keys.publicKey.export({ format: "jwk" });
    const cose = Buffer.concat([
      Buffer.from("a5010203262001215820", "hex"),
      Buffer.from(x, "base64url"),
      Buffer.from("225820", "hex"),
      Buffer.from(y, "base64url"),
    ]);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(this.id.length);
    const data = Buffer.concat([
      this.#data(options.rp?.id ?? "", { flags: 0x45, ...wrong }),
      Buffer.alloc(16),
      length,
      this.id,
      cose,
    ]);
    const size = Buffer.alloc(2);
    size.writeUInt16BE(data.length);
    const attestation = Buffer.concat([
      Buffer.from("a3", "hex"),
      cborText("fmt"),
      cborText("none"),
      cborText("attStmt"),
      Buffer.from("a0", "hex"),
      cborText("authData"),
      Buffer.from("59", "hex"),
      size,
      data,
    ]);
    return this.#credential({
      clientDataJSON: this.#client("webauthn.create", options, wrong).toString("base64url"),
      attestationObject: attestation.toString("base64url"),
      transports: ["internal"],
    });
  }

  /** The response of a browser that has used the passkey. */
  use(options: Options, wrong: Wrong = {}) {
    this.#counter++;
    const client = this.#client("webauthn.get", options, wrong);
    const data = this.#data(options.rpId ?? "", { flags: 0x05, counter: this.#counter, ...wrong });
    const signed = Buffer.concat([data, createHash("sha256").update(client).digest()]);
    return this.#credential({
      clientDataJSON: client.toString("base64url"),
      authenticatorData: data.toString("base64url"),
      signature: sign("sha256", signed, this.#keys.privateKey).toString("base64url"),
      userHandle: null,
    });
  }

  #credential<R>(response: R) {
    const id = this.id.toString("base64url");
    return { id, rawId: id, type: "public-key", response, clientExtensionResults: {} };
  }

  #client(type: string, options: Options, { origin, challenge }: Wrong): Buffer {
    return Buffer.from(
      JSON.stringify({
        type,
        challenge: challenge ?? options.challenge,
        origin: origin ?? this.#origin,
        crossOrigin: false,
      }),
    );
  }

  #data(rpId: string, { rpId: other, flags = 0, counter = 0 }: Wrong): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([
      createHash("sha256")
        .update(other ?? rpId)
        .digest(),
      Buffer.from([flags]),
      count,
    ]);
  }
}

interface Options {
  readonly challenge: string;
  readonly rp?: { readonly id: string };
  readonly rpId?: string;
}

function cborText(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);
}
