import type { IncomingHttpHeaders } from "node:http";
import type { GuardedClient } from "../../../platform/outbound/guarded-client.ts";
import type { SourceRecording } from "../sources/source.ts";

export type ConnectionKind = "zoom" | "attendee" | "vexa";

/** What a connection keeps encrypted. */
export interface ConnectionSecrets {
  readonly webhook_secret: string;
  readonly api_key?: string | undefined;
  readonly account_id?: string | undefined;
  readonly client_id?: string | undefined;
  readonly client_secret?: string | undefined;
}

/** A webhook as it arrived. */
interface SignedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** An event that may lead to a recording. */
export interface ServiceEvent {
  readonly type: string;
  /** Identifies the event among all of its connection: what is sent again has the same. */
  readonly id: string;
  /** The meeting's id at the service. */
  readonly meetingId: string;
  /** What is needed later, as JSON. */
  readonly payload: object;
}

/** What reading from a service needs. */
export interface ServiceAccess {
  readonly client: GuardedClient;
  readonly baseUrl: string;
  /** Hosts that may be requested, see `OutboundRequest.allowHosts`. */
  readonly allowHosts: readonly string[];
  readonly secrets: ConnectionSecrets;
  readonly signal: AbortSignal;
}

/** A stored event. */
export interface StoredEvent {
  readonly type: string;
  readonly payload: unknown;
  readonly receivedAt: Date;
}

/** A transcript, and sentences for the admin: what of it could not be read, or was assumed. */
export interface ServiceTranscript {
  readonly entries: SourceRecording["entries"];
  readonly notes: readonly string[];
}

/** A service that reports recordings by webhook. */
export interface ConnectedService {
  readonly label: string;
  /** Whether the request was signed with the secret, not too long ago where the service states a time. */
  isSigned(request: SignedRequest, secret: string, now: Date): boolean;
  /** The response to a request that only checks the URL; null: it is no such request. */
  challenge?(body: Buffer, secret: string): object | null;
  /** The event in a body; null: none that leads to a recording. */
  read(body: Buffer): ServiceEvent | null;
  /** Whether events of this type bring the transcript of a recording that another event brings. */
  isTranscript(type: string): boolean;
  /**
   * Reads the recording of an event.
   * @param others events of the same meeting that bring its transcript.
   * @returns null: there is none.
   */
  load(
    access: ServiceAccess,
    event: StoredEvent,
    others: readonly StoredEvent[],
  ): Promise<(SourceRecording & { readonly notes?: ServiceTranscript["notes"] }) | null>;
  /** The transcript that an event brings. */
  loadTranscript?(access: ServiceAccess, event: StoredEvent): Promise<ServiceTranscript>;
}
