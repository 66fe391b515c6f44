/**
 * Every error a user can meet: what happened, what to do next. `docs/errors.md` is printed from this table,
 * and a gate fails when a code has no remedy or no test.
 */
export const ERROR_CODES = {
  // values
  VALUE_NOT_JSON: {
    says: "A value cannot be kept as JSON.",
    tryThis:
      "Pass plain objects, arrays, strings, finite numbers, booleans and null; convert dates, maps, big integers and class instances first.",
  },
  VALUE_TOO_DEEP: {
    says: "A value is nested deeper than the limit.",
    tryThis: "Flatten it, or store it as a blob and keep the blob's name.",
  },
  VALUE_TOO_LARGE: {
    says: "A value is larger than the limit.",
    tryThis:
      "Store it as a blob and keep the blob's name. Records of a journal that is opened with `openJournal` may have other limits.",
  },
  BAD_OPTION: {
    says: "An option does not exist, or has a value that cannot work.",
    tryThis: "Correct the option named in the details.",
  },

  // records
  RECORD_MALFORMED: {
    says: "A record does not have the shape that its kind requires.",
    tryThis: "Correct the field named in the details; `RecordDraft` is the type of all records.",
  },
  RECORD_RESERVED: {
    says: "Only the kernel may write this kind of record: on its own it would report a change that never happened. Nothing was written.",
    tryThis:
      "Use the method that makes the change and writes the record with it: `checkpoint`, `rewind`, `fork`, `retain`, `setMode`, `runTool`, `reply`, `writeback`.",
  },
  RECORD_TOO_NEW: {
    says: "A record was written by a newer schema.",
    tryThis: "Upgrade holdfast; nothing was written.",
  },

  // bundles
  BUNDLE_DAMAGED: {
    says: "The file is not a complete bundle.",
    tryThis: "Export the session again; nothing was taken from this file.",
  },
  BUNDLE_TOO_NEW: {
    says: "The bundle was written by a newer version.",
    tryThis: "Upgrade holdfast; nothing was taken from this file.",
  },

  // pages
  PAGE_KIND_REFUSED: {
    says: "A tool's output may only become evidence, and something tried to make it another kind of page.",
    tryThis: "Make a rule, a plan or a preference with its own producer; a tool cannot promote its output.",
  },

  // writeback and boundaries
  WRITEBACK_NOT_STAGED: {
    says: "There is no such staged change of a durable page: it was already committed or rejected, or never existed.",
    tryThis: "Look at `session.writeback.pending`, and at the journal's writeback records for the reason.",
  },
  WRITEBACK_UNREACHABLE: {
    says: "Changes of durable pages could not be committed. They stay staged; nothing is reported as durable.",
    tryThis: "Make the store reachable and commit again; the cause says what failed.",
  },

  BOUNDARY_REFUSED: {
    says: "Changes of durable pages could not be committed, so the boundary was refused and no context was given up.",
    tryThis: "Make the store reachable and try again; the cause says what failed. The changes stay staged.",
  },
  SUMMARY_TOO_LONG: {
    says: "A summariser was given more text than it can read.",
    tryThis: "Throw this from your own summariser, and it is asked again with less text.",
  },
  ASIDE_FAILED: {
    says: "A model was asked for a shorter text or a summary, and did not return one.",
    tryThis: "Look at the reason. Nothing is lost: the version that is made without a model is used instead.",
  },
  SUMMARY_FAILED: {
    says: "A conversation could not be summarised, so nothing was compacted. Everything is as it was.",
    tryThis: "Look at the cause; then compact again, with another summariser if needed.",
  },

  // stores
  STORE_EMPTY_FILE: {
    says: "The store file is empty, so it is not a store. Nothing was written.",
    tryThis:
      "If a file with the same name plus `-wal` lies beside it, first save the records in that: `holdfast verify FILE --salvage OUT`. Then restore the store from a backup, or remove both files to start anew. A full disk leaves such files.",
  },
  STORE_FOREIGN_FILE: {
    says: "The file is not a Holdfast store. Nothing was written.",
    tryThis: "Check the path; Holdfast never adopts a file it did not make.",
  },
  STORE_TOO_NEW: {
    says: "The store was written by a newer schema. Nothing was written.",
    tryThis: "Upgrade holdfast, or open a copy with the version that wrote it.",
  },
  STORE_BAD_MODE: {
    says: "The store names a durability class that this version does not know.",
    tryThis: "Upgrade holdfast, or save the records with `holdfast verify --salvage OUT`.",
  },
  STORE_DAMAGED: {
    says: "The store file is damaged.",
    tryThis:
      "Run `holdfast verify --salvage OUT` to save every record that can be proven; keep the damaged file until you have.",
  },
  STORE_NOT_DURABLE: {
    says: "The store could not be switched to the durability class that you asked for.",
    tryThis:
      'Use a local disk, or ask for durability "process" if losing the newest records on power loss is acceptable.',
  },
  STORE_ON_NETWORK: {
    says: "The store lies on a network file system, where SQLite's write-ahead log is not safe.",
    tryThis:
      'Move the store to a local disk, or pass `network: "rollback-journal"` to use the slower journal that needs no shared memory.',
  },
  STORE_ENGINE_MISSING: {
    says: "This Node has no SQLite, so sessions cannot be kept in a file. Everything that needs no store still works, such as `holdfast doctor` and `holdfast/history`.",
    tryThis: "Use Node 22.18 or newer without --no-experimental-sqlite, or pass `driver: betterSqlite3(Database)`.",
  },
  STORE_ENGINE_TOO_OLD: {
    says: "This SQLite has a bug that can corrupt a write-ahead log used by several processes.",
    tryThis: "Use a Node that ships SQLite 3.51.3 or newer, or let only one process at a time open the store.",
  },
  STORE_OTHER_ENGINE: {
    says: "This process already has the store open through another copy of SQLite. The two copies would free each other's locks.",
    tryThis: "Use one driver for a store in all threads of a process, or close the other store first.",
  },
  STORE_BUSY: {
    says: "The store stayed busy for too long.",
    tryThis:
      "Try again. If it persists, look for a long transaction in another process, or for a read that waits inside another read.",
  },
  STORE_SHARED: {
    says: "Something else has the store open, and may still know what the damaged row said. Nothing was given up.",
    tryThis: "Close everything else that uses the store, and try again.",
  },
  STORE_FULL: {
    says: "The disk is full. The write is not acknowledged.",
    tryThis: "Free space, then try again; everything acknowledged before is intact.",
  },
  STORE_READONLY: {
    says: "The store cannot be written. The write is not acknowledged.",
    tryThis: "Check the file's and folder's permissions and whether the disk is mounted read-only.",
  },
  STORE_IO: {
    says: "The operating system failed to read or write the store. Nothing is acknowledged.",
    tryThis: "Check the disk, then try again; everything acknowledged before is intact.",
  },
  STORE_CLOSED: {
    says: "The store is closed.",
    tryThis: "Open it again before using it.",
  },
  STORE_GONE: {
    says: "The store's file or its log was removed, replaced or moved while it was open. Writes that were not acknowledged by then may be lost.",
    tryThis: "Put the file back if you moved it; then close this store and open it again.",
  },
  STORE_UNREACHABLE: {
    says: "The store file or its folder cannot be opened.",
    tryThis: "Check that the path exists, is not a folder or a link loop, and that you may read and write it.",
  },

  // blobs
  BLOB_MISSING: {
    says: "A record names content that is not in the store.",
    tryThis: "Put the content again, then retry; if it was there before, run `holdfast verify`.",
  },
  BLOB_CORRUPT: {
    says: "Stored content does not match its name. It was not returned.",
    tryThis: "Run `holdfast verify` to see what else is damaged, and restore the content from a backup.",
  },
  BLOB_BAD_NAME: {
    says: "This is not the name of stored content.",
    tryThis: "Use names exactly as they were returned when the content was stored.",
  },
  BLOB_BAD_SOURCE: {
    says: "The content is not bytes. Nothing was stored.",
    tryThis: "Pass a Uint8Array, or an iterable or stream of them; encode text first, e.g. with `Buffer.from(text)`.",
  },
  BLOB_BAD_RANGE: {
    says: "A range lies outside the content.",
    tryThis: "Ask for a range between 0 and the content's size.",
  },

  // sessions and journals
  SESSION_BAD_ID: {
    says: "The session id is not valid.",
    tryThis: "Use 1 to 200 characters: letters, digits, dot, dash, underscore, colon; not starting with a dot.",
  },
  SESSION_UNKNOWN: {
    says: "There is no session with this id.",
    tryThis:
      "List the sessions with `holdfast sessions`. A program creates one with `holdfast.open(id)`, unless it passes `create: false`.",
  },
  SESSION_EXISTS: {
    says: "A session with this id already exists.",
    tryThis: "Open it, or choose another id.",
  },
  SESSION_BUSY: {
    says: "This session is already open for writing, in another process or in this one.",
    tryThis:
      "Use the session that is open here, or wait until the other process closes it; or read it without opening it (`look`, `holdfast show`), or fork it.",
  },
  SESSION_DAMAGED: {
    says: "The session cannot be opened because acknowledged records are missing or do not fit together.",
    tryThis:
      "Run `holdfast verify --salvage OUT` to save every record that can be proven. `holdfast delete SESSION --damaged --yes` then gives up a session that cannot be read at all.",
  },
  SESSION_SOUND: {
    says: "The session is not damaged, or it can be repaired from what was kept beside it. It was not given up.",
    tryThis:
      "Open it, which repairs it, or delete it like any other session. If that is refused, first give up the damaged sessions that cannot be repaired.",
  },
  SESSION_NEEDED: {
    says: "Other sessions need this one. Nothing was deleted.",
    tryThis: "First delete the sessions that the details name.",
  },
  SESSION_NOT_FOLLOWED: {
    says: "The session's state has parts that only the program which wrote it understands. Nothing was changed.",
    tryThis: "Do this in the program that declares these parts. Reading the session works everywhere.",
  },
  SESSION_FULL: {
    says: "The session has used up its sequence numbers.",
    tryThis: "Fork the session and continue in the fork.",
  },
  FORK_INCOMPLETE: {
    says: "Some of the records that this session inherits are missing.",
    tryThis: "Restore the session it was forked from, or save what can be proven with `holdfast verify --salvage OUT`.",
  },
  FORK_UNFINISHED: {
    says: "The process that made this fork ended before the fork's mode and files were in place.",
    tryThis: "Fork again under the same name, which replaces it, or delete it (`holdfast delete`).",
  },
  FORK_LEFT_BEHIND: {
    says: "A fork failed, and the part that had been made could not be removed.",
    tryThis:
      "Look at both causes. If the details name a folder, remove it and fork again. If they name a session, fork again under the same name, or delete it (`holdfast delete`).",
  },
  FORK_POINT_UNKNOWN: {
    says: "The session cannot be forked after this record: there is no such record, or it lies inside the commit of a call.",
    tryThis:
      "Choose a sequence number between the oldest and the newest record that is kept; inside a commit, take `next` from the details.",
  },
  LEASE_LOST: {
    says: "Another writer has taken this session over. Nothing was written.",
    tryThis: "Open the session again to continue where the other writer left off.",
  },
  HEAD_MOVED: {
    says: "The session has grown since this writer last looked. Nothing was written.",
    tryThis: "Open the session again. A second writer used the same lease, which should not happen.",
  },
  OUTPUT_FAILED: {
    says: "Standard output cannot be written, so the output is incomplete.",
    tryThis: "Free space where the output goes, or send it elsewhere, and run the command again.",
  },
  JOURNAL_CLOSED: {
    says: "The journal is closed.",
    tryThis: "Open the session again.",
  },
  LOCK_HELD: {
    says: "Another process holds this lock.",
    tryThis: "Wait until that process ends. The lock is freed when the process dies, not after a time.",
  },

  // state
  SLICE_EVENT_UNKNOWN: {
    says: "A slice has no reducer for this event.",
    tryThis: "Dispatch the events that the slice's own event makers return.",
  },
  SLICE_NOT_JSON: {
    says: "A value of a slice cannot be kept as JSON: its initial value, or what a reducer or its schema returned.",
    tryThis: "Keep plain data in slices; convert dates, maps and class instances before they come in.",
  },
  SLICE_INVALID: {
    says: "A value does not pass its slice's schema. Nothing was changed.",
    tryThis: "Correct the value, or convert old values before they are loaded.",
  },
  STATE_INSIDE_CALL: {
    says: "A tool's handler tried to change the state outside its own call. Nothing was changed.",
    tryThis: "Inside a handler, use the call that it was given: `call.dispatch`, `call.files`, `call.run`.",
  },
  SLICE_UNKNOWN: {
    says: "This state has no slice or part with that name.",
    tryThis:
      "List it where the state is created: a slice in `slices`; for files `parts: [filesPart]`, unless a kernel creates the state.",
  },
  PART_RESERVED: {
    says: "A call tried to change a part of the state that belongs to the kernel.",
    tryThis: "Use the call's own methods: files, resources, commands. The mode can only be set from outside a call.",
  },
  SLICE_EXISTS: {
    says: "Two parts of the state have the same name.",
    tryThis: "Give each slice and resource a name of its own.",
  },
  REDUCER_FAILED: {
    says: "A reducer threw. Nothing was changed.",
    tryThis: "Make the reducer return a value for every payload that its event makers accept.",
  },
  SNAPSHOT_MISMATCH: {
    says: "A snapshot does not fit this state. Nothing was changed.",
    tryThis: "Register the slices and resources named in the details, or restore only the known ones.",
  },
  SNAPSHOT_CORRUPT: {
    says: "A snapshot is damaged or was altered, or `toJson()` did not write it. Nothing was changed.",
    tryThis:
      "Write snapshots with `state.toJson(snapshot)`, not with `JSON.stringify`. If it was written so, use another one: this one cannot be trusted.",
  },
  SNAPSHOT_TOO_NEW: {
    says: "A snapshot was written by a newer schema.",
    tryThis: "Upgrade holdfast, or restore an older checkpoint.",
  },
  RESTORE_FAILED: {
    says: "A resource refused to be restored.",
    tryThis: "Look at both causes. If the session is poisoned, open it again.",
  },
  STATE_POISONED: {
    says: "A restore failed halfway, or a commit could not be written, so the state can no longer be trusted. No further calls run.",
    tryThis: "Open the session again: it starts from what was committed.",
  },
  RESOURCE_UNKNOWN: {
    says: "There is no resource with this key.",
    tryThis: "Register it where the state is created, or pass a default.",
  },
  REWIND_TOO_LARGE: {
    says: "The rewind would change more than one record can hold. Nothing was changed.",
    tryThis:
      "Fork the session at that call: a fork takes the state over as it is kept. Or go back over a call in between.",
  },
  CHECKPOINT_UNKNOWN: {
    says: "There is no checkpoint for this call, or something that it needs is gone.",
    tryThis:
      "List the calls with `holdfast show SESSION`, and choose another one. Only the newest checkpoints are kept.",
  },

  CHECKPOINT_REWOUND: {
    says: "A rewind took this call back, so you can no longer return to it.",
    tryThis: "Choose a call that was not taken back, or fork the session at a record before the rewind.",
  },
  CALLS_OPEN: {
    says: "Calls are still running. Nothing was changed.",
    tryThis: "Wait until they have ended, or abort them.",
  },

  // files
  FILE_BAD_PATH: {
    says: "The path leaves the workspace, or is not a valid path. Nothing was changed.",
    tryThis: "Use a relative path below the root, without `..`.",
  },
  FILE_NOT_FOUND: {
    says: "There is nothing at this path.",
    tryThis: "List the folder to see what is there.",
  },
  FILE_EXISTS: {
    says: "Something already exists at this path. Nothing was changed.",
    tryThis: "Delete it first, or choose another path.",
  },
  FILE_IS_FOLDER: {
    says: "The path is a folder, which cannot be read, replaced or removed like a file.",
    tryThis: "Name a file, or delete with `recursive: true`.",
  },
  FILE_NOT_FOLDER: {
    says: "There is a file where a folder is needed.",
    tryThis: "Choose another path, or delete the file first.",
  },
  FILE_NOT_TEXT: {
    says: "The file is not UTF-8 text.",
    tryThis: "Read it as bytes; as text its content would change.",
  },
  FILE_NAME_NOT_TEXT: {
    says: "Some names in the folder are not UTF-8 text, so nothing can ask for what they name.",
    tryThis: "Rename them on the system; commands see them as they are.",
  },
  FILE_TEXT_BROKEN: {
    says: "The text contains half a character (a lone surrogate), which a UTF-8 file cannot hold. Nothing was written.",
    tryThis: "Write the whole character, or use `text.toWellFormed()` to replace it with U+FFFD.",
  },
  FILE_SPECIAL: {
    says: "The path is a pipe, a socket or a device, which has no content to read, keep or bring back.",
    tryThis: "Use a tool that is declared `external`.",
  },
  EXEC_UNAVAILABLE: {
    says: "There is no folder on the disk in which a command could run.",
    tryThis:
      "Open the session with a `workspace` that it may write. Sessions with files in memory, and read-only forks, cannot run commands.",
  },
  EXEC_NOT_ALLOWED: {
    says: "The tool does not declare that it runs commands. Nothing was started.",
    tryThis:
      'Define it with `access: "execute"`, or with `access: "external"` for commands in the background, so that plan mode and retries know.',
  },
  EXEC_NOT_COVERED: {
    says: "Something in the workspace could not be kept or brought back, so nothing the command did was kept.",
    tryThis:
      'Move the named paths out of the workspace (a store may also go into `.holdfast`), rename those with a reserved name, or raise the limit that they exceed. `uncovered: "report"` runs the command anyway and only reports them.',
  },
  EXEC_NOT_STARTED: {
    says: "The command could not be started.",
    tryThis: "Check that the shell exists and that the system allows more processes; the cause says what it refused.",
  },
  EXEC_NO_DRIVER: {
    says: "The driver that is to protect commands does not work here, or no longer.",
    tryThis:
      'Set `exec.driver` to "portable", or to "auto" to have the one that works. The details say what the system refused.',
  },
  EXEC_LAYER_LOST: {
    says: "The process that holds the commands' write layer was killed from outside, so what they did is unknown. Nothing of it was kept.",
    tryThis:
      "Run the command again. If it happens again, look for what kills processes here: a system out of memory, a watchdog, or the command itself.",
  },
  EXEC_BUSY: {
    says: "A command is changing the files of this workspace in place, and nothing else may change them until it has ended.",
    tryThis: "Wait for the command to end, then try again.",
  },
  EXEC_NOT_UNDONE: {
    says: "The changes of a command could not be undone completely.",
    tryThis:
      "Look at the paths in the details and in `.holdfast/workspace/rescue`, clear what is in the way, and open the session again to finish. Or remove `.holdfast/workspace/exec` to continue with the files as they are.",
  },
  EXEC_SAVEPOINT: {
    says: "A command ran after the savepoint, and its changes can only be undone together with the whole call.",
    tryThis: "Fail the call instead of rolling back part of it, or run the command in a call of its own.",
  },
  RESOURCE_SAVEPOINT: {
    says: "The call has used a resource, and what one part of the call did with it cannot be rolled back at once, or on its own.",
    tryThis: "Use `await call.transaction(work)`, one at a time, which waits for the resource; or fail the call.",
  },
  CHILD_SAVEPOINT: {
    says: "A child session worked for a part of the call and could not be taken back with that part.",
    tryThis: "`stuck` says why. The whole call fails, and the child's work is still there to look at.",
  },
  SAVEPOINT_VOID: {
    says: "This belongs to a part of the call that has already been rolled back.",
    tryThis: "Take a new savepoint after a rollback, and await everything that a transaction starts before it ends.",
  },
  FILE_EDIT_NOT_FOUND: {
    says: "An edit's text does not occur in the file. None of the edits was made.",
    tryThis: "Read the file again and copy the text to replace exactly, white space included.",
  },
  FILE_EDIT_AMBIGUOUS: {
    says: "An edit's text occurs more than once in the file. None of the edits was made.",
    tryThis: "Give more of the surrounding text, or set `all: true` to change every place.",
  },
  FILE_CONFLICT: {
    says: "Somebody else changed the file after it was read. Nothing was changed.",
    tryThis: "Read the file again and make the change on what it holds now.",
  },
  FILE_PROTECTED: {
    says: "The file is write-protected. Nothing was changed.",
    tryThis: "Ask its owner, or make it writable first (`chmod u+w`).",
  },
  FILE_NOT_READABLE: {
    says: "The system does not allow reading this.",
    tryThis: "Check its owner and permissions, or leave it out.",
  },
  FILE_NOT_WRITABLE: {
    says: "The system does not allow changes in this folder. Nothing was changed.",
    tryThis: "Check the folder's permissions and whether its file system is mounted read-only.",
  },
  FILE_OTHER_DEVICE: {
    says: "The folder lies on another file system than the workspace, where files cannot be moved aside. Nothing was changed.",
    tryThis: "Open that folder as a workspace of its own.",
  },
  WORKSPACE_NO_LINKS: {
    says: "The workspace's file system has no hard links, and without them a new file could overwrite somebody else's. Nothing was changed.",
    tryThis: "Move the workspace to a file system that has hard links; FAT, exFAT and some network shares have none.",
  },
  FILE_GONE: {
    says: "The content that files had at that point no longer exists: a command wrote it, such content is not copied, and somebody else has changed the files since.",
    tryThis:
      "Put the files back as they were, fork from a point before the command, or fork after a later call that changed them.",
  },
  FILE_NOT_COVERED: {
    says: "The folder contains something that could not be brought back later. Nothing was changed.",
    tryThis: "Remove the named paths by hand, or name the files to change one by one.",
  },
  FILE_CHANGE_TOO_LARGE: {
    says: "One call would change more than its limit of paths or bytes. Nothing was changed.",
    tryThis: "Change less at once, or raise `workspace.limits`.",
  },
  FILES_READ_ONLY: {
    says: "This session may read the workspace but not change it.",
    tryThis: 'Fork with `workspace: "memory"` or with a folder of its own.',
  },
  WORKSPACE_BUSY: {
    says: "This workspace is in use, by another process or by another Holdfast in this one. Nothing was changed.",
    tryThis: "Close the session that uses it first. The lock goes with its process, even when that is killed.",
  },
  WORKSPACE_ROOT_REFUSED: {
    says: "This folder is refused as a workspace: it is a home folder, the root of a file system, or contains very many files.",
    tryThis: "Use a project folder, or set `workspace: { root, anyRoot: true }` if you really mean this one.",
  },
  WORKSPACE_UNUSABLE: {
    says: "The workspace cannot be used as it is.",
    tryThis:
      "Look at the details. The folder must exist, and `.holdfast` in it must be a folder that this process may write.",
  },
  WORKSPACE_FOREIGN: {
    says: "This folder is not the workspace of this session and store: it belongs to others, or to nobody yet.",
    tryThis:
      "Name the folder that the session works in, use the session and store that this folder belongs to, or fork the session into a workspace of its own.",
  },
  WORKSPACE_UNFINISHED: {
    says: "A change that was cut off waits in this folder, and this store does not know the session that made it.",
    tryThis:
      "Open that session in its own store, which finishes the change. If that store no longer exists, give the change up: `holdfast.forgetUnfinished(session)`, or `holdfast delete SESSION --store-gone --dry-run` and then `--yes`.",
  },
  WORKSPACE_NEEDED: {
    says: "The session works on files in a folder, and you did not say which. Nothing was changed.",
    tryThis:
      "Name the folder (`workspace`, or `--workspace` on the command line), or leave the files out with `scope`.",
  },
  WORKSPACE_NEEDS_LOCKS: {
    says: "This store cannot keep two processes out of one workspace.",
    tryThis: "Use an embedded store such as `sqlite(…)` together with `workspace`.",
  },
  WORKSPACE_PENDING: {
    says: "Files of a committed call could not be put in place yet. No further file is changed until they are.",
    tryThis:
      "Clear what stands in the way (a full disk, a permission), then continue: Holdfast tries again on its own.",
  },
  WORKSPACE_IO: {
    says: "The system could not read or write the workspace.",
    tryThis: "Look at the system's own code in the details.",
  },
  FILE_TOO_LARGE: {
    says: "The file is larger than the limit. Nothing was written.",
    tryThis: "Split it, or keep it outside the workspace. One that is there can be read in parts with `readStream`.",
  },

  // calls
  CALL_NOT_WAITING: {
    says: "No call with that id is waiting for a reply. Nothing was changed.",
    tryThis: "Look at `session.waiting`. The call may have been answered, or closed when the user went on.",
  },
  ASK_FAILED: {
    says: "The run's `ask` failed for a waiting call, so the call got no reply and still waits.",
    tryThis: "The cause is what `ask` threw. Reply with `session.reply`, or run again without input to be asked again.",
  },
  PRICE_FAILED: {
    says: "The cost of an answer is unknown: the `price` of the run's limits threw, or returned no amount.",
    tryThis:
      "Look at the cause, or at the value in the details. A `cost` limit counts as reached; fix `price` and run again.",
  },
  REPLY_MISFIT: {
    says: "The reply does not fit what the call is waiting for. It still waits.",
    tryThis:
      "Give `approve`, true or false, to a call that waits for consent, and `answer`, as JSON, to one that waits for an answer.",
  },
  TURN_RUNNING: {
    says: "A turn of this session is already running. Nothing was changed.",
    tryThis: "Follow its events to the end, or stop it with its signal, and try again.",
  },
  CALL_CLOSED: {
    says: "The call has ended. Nothing was changed.",
    tryThis: "Finish the work before the handler returns, and stop when its signal aborts.",
  },
  CALL_OPEN: {
    says: "A call with this id is already open.",
    tryThis: "End it first, or give the new call an id of its own.",
  },
  CALL_ENDED: {
    says: "A call with this id has already ended in this session, and is still needed.",
    tryThis: "Give every call an id of its own; in a session, pass none, and pass a provider's id as the alias.",
  },
  CALL_BAD_ID: {
    says: "The id of a call is empty, is not a string, or contains half a character.",
    tryThis: "Use a well-formed string; in a session, pass no id, and pass a provider's id as the alias.",
  },
  CALL_REFUSED: {
    says: "The call may not run: its arguments, a policy or a deadline forbid it, or it was aborted. It was closed, and nothing was changed.",
    tryThis: "Tell the model the reason in the details.",
  },
  TRANSACTIONS_EXIST: {
    says: "This state already has its transactions.",
    tryThis: "Use the existing ones: `Transactions.of(state)`.",
  },
  EFFECTS_STAND: {
    says: "Calls that would be taken back did something outside, and nothing here can undo it. Nothing was changed.",
    tryThis:
      "Rewind in the program that declares how to undo it, or leave these effects as they are with `--leave-effects`.",
  },
  EFFECT_BAD_KEY: {
    says: "The name or key of an effect is missing or not a string, or contains half a character, so the effect could not be found again.",
    tryThis:
      "Pass { key } with a well-formed string, such as the id of what the effect is about, or the call's own id.",
  },
  EFFECT_KEY_SECRET: {
    says: "The key of an effect contains a secret, and keys are stored.",
    tryThis: "Use an id or a hash as the key, and pass the secret in the arguments.",
  },
  EFFECT_UNDECLARED: {
    says: "The tool declares no such effect. Nothing was done.",
    tryThis: "Declare it in the tool's `effects`, so that it can be journalled and undone.",
  },
  EFFECT_UNKNOWN: {
    says: "An effect with this key began and never reported its end: it may have happened.",
    tryThis: "Find out whether it happened. Then leave it, or use a new key to do it again.",
  },
  BUDGET_EXCEEDED: {
    says: "A budget is used up.",
    tryThis: "Raise the limit named in the details, or end the run.",
  },
  EVALUATION_ENDED: {
    says: "The run's deadline has passed.",
    tryThis: "Give the run more time, or less to do.",
  },

  // history and wire
  RECOVERY_OFF: {
    says: "The session was cut off by a crash, and recovery is switched off. It was not opened, and nothing was changed.",
    tryThis:
      "Look at it with `holdfast show`. Set `auto_recover_from_crash = true` to close what was cut off and go on.",
  },
  HISTORY_INVALID: {
    says: "The history breaks a pairing invariant. Nothing was sent.",
    tryThis: "Repair it with `normalize(items)`, or read every fault in the report that is this error's cause.",
  },
  HISTORY_CALLS_OPEN: {
    says: "Calls are still running, and no provider accepts a call without its output. Nothing was sent.",
    tryThis: "Wait for them, settle them, or give them a deadline; `enforce_history_invariants = false` sends anyway.",
  },
  MESSAGES_UNREADABLE: {
    says: "The messages could not be read in the given format.",
    tryThis: "Pass an array of plain messages in that format; the place and the reason are in the details.",
  },

  // prompt and catalog
  PROMPT_INVALID: {
    says: "The prompt's definition is not valid.",
    tryThis: "Correct the section named in the details.",
  },
  PROMPT_MISALIGNED: {
    says: "Prompt, tools and mode of a request do not agree. Nothing was sent.",
    tryThis:
      "Read the faults in the details. `sendMisaligned` with a reason sends the request anyway, and records that.",
  },
  MODE_INHERITED: {
    says: "The session works for a parent session that is in plan mode, so it stays in plan mode.",
    tryThis: "Set the mode of the parent session first.",
  },

  // models
  REQUEST_MALFORMED: {
    says: "The request breaks what its provider demands. Nothing was sent.",
    tryThis:
      "Repair the history with `normalize(items, { profile, tools })`; every fault is in this error's cause. A request without items needs one.",
  },
  MODEL_FAILED: {
    says: "The model did not answer.",
    tryThis: "Read `kind`, `retryable` and `retryAfterMs` in the details; the answer so far is in the cause.",
  },
  MODEL_UNFINISHED: {
    says: "The model's events ended without `end` or `failed`, so nobody knows whether it answered.",
    tryThis: "Run `adapterLaws` on the adapter, which breaks its contract.",
  },
  SDK_MISSING: {
    says: "An optional package that this needs is not installed.",
    tryThis: "Install the package named in the details. If it is a provider's SDK, you can pass a `client` instead.",
  },
  SCRIPT_INVALID: {
    says: "A step of the script is not valid.",
    tryThis: "Correct the step named in the details; counting starts at 0.",
  },
  SCRIPT_EXHAUSTED: {
    says: "The script was asked more often than it has steps.",
    tryThis: "Add steps, or use a function. If your loop never stops asking, fix the loop.",
  },

  // hosts
  TOOL_NAME_TAKEN: {
    says: "Two tools would have the same name, so it would be unclear which one runs.",
    tryThis: "Rename one of them. For the tools of a server, set a `prefix`.",
  },
  MCP_LIST_ENDLESS: {
    says: "A server's list of tools has no end.",
    tryThis: "Report it to the server's maker: every page of the list points to another page.",
  },
  MCP_NOT_CONNECTED: {
    says: "The MCP client is not connected.",
    tryThis:
      "Connect the client before you give it to `mcpTools`. After a broken connection, connect it again, then call `refresh`: until then the tools stay as they were.",
  },

  // other people's sessions
  TRANSCRIPT_UNREADABLE: {
    says: "A file or folder cannot be read.",
    tryThis:
      "Check that it exists, that you may read it, that it is not a pipe or a device, and, if it is compressed, that it is complete.",
  },
  TRANSCRIPT_UNKNOWN: {
    says: "The file is not a session in any known format.",
    tryThis: "Name its format with `--format`, or check that it is the session itself and not an index file.",
  },
  TRANSCRIPT_BUSY: {
    says: "Another program is writing the file. It was not repaired.",
    tryThis: "Close the program that writes it, wait a few seconds, then try again.",
  },
  TRANSCRIPT_NOT_REPAIRED: {
    says: "The repaired file did not pass the check. The original was left as it was.",
    tryThis: "Report it with the output of `holdfast doctor --json`.",
  },
  TRANSCRIPT_NOT_WRITTEN: {
    says: "A repaired file, or the backup beside it, could not be written. The file was left as it was.",
    tryThis: "Check the permissions of its folder and that the disk has room for two more copies.",
  },
} as const satisfies Record<string, { readonly says: string; readonly tryThis: string }>;

/** The code of a HoldfastError; docs/errors.md lists them all. */
export type ErrorCode = keyof typeof ERROR_CODES;
