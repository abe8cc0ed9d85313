import { queryOptions } from "@tanstack/react-query";
import { getDocument, getWordDocument } from "../../../contract/documents/document.ts";
import type { DocumentPart } from "../../../contract/documents/document-parts.ts";
import { call, callForFile } from "../client/call.ts";

/** A recording as a document to print. */
export function documentQuery(id: string, parts: readonly DocumentPart[]) {
  const list = parts.join(",");
  return queryOptions({
    queryKey: ["recording", id, "document", list],
    staleTime: 0,
    queryFn: ({ signal }) =>
      call(getDocument, { params: { recording_id: id }, query: { parts: list }, signal }),
  });
}

/** The same as a file for Word, with the date in this browser's time zone. */
export function downloadWordDocument(id: string, parts: readonly DocumentPart[]): Promise<Blob> {
  return callForFile(getWordDocument, {
    params: { recording_id: id },
    query: { parts: parts.join(","), time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone },
  });
}
