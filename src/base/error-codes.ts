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
    tryThis: "Flatten it, or store it as a blob and keep its name.",
  },
  VALUE_TOO_LARGE: {
    says: "A value is larger than the limit.",
    tryThis: "Store it as a blob and keep its name, or raise the limit where the journal is opened.",
  },
  BAD_OPTION: {
    says: "An option has a value that cannot work.",
    tryThis: "Correct the option named in the details.",
  },

  // records
  RECORD_MALFORMED: {
    says: "A record does not have the shape its kind demands.",
    tryThis: "Correct the field named in the details; the shapes are in the records room.",
  },
  RECORD_RESERVED: {
    says: "Only the kernel writes this: alone, the record would tell of a change that never happened. Nothing was written.",
    tryThis:
      "Use what makes the change and writes the record with it: `checkpoint`, `rewind`, `fork`, `retain`, `setMode`, `runTool`, `reply`, `writeback`.",
  },
  RECORD_TOO_NEW: {
    says: "A record was written by a newer schema.",
    tryThis: "Upgrade holdfast; nothing was written.",
  },

  // bundles
  BUNDLE_DAMAGED: {
    says: "The file is not a whole bundle.",
    tryThis: "Export the session again; nothing was taken from this file.",
  },
  BUNDLE_TOO_NEW: {
    says: "The bundle was written by a newer version.",
    tryThis: "Upgrade holdfast; nothing was taken from this file.",
  },

  // pages
  PAGE_KIND_REFUSED: {
    says: "A tool's output was to become something else than evidence.",
    tryThis: "Make a rule, a plan or a preference with its producer; a tool cannot promote its own output.",
  },

  // writeback and boundaries
  WRITEBACK_NOT_STAGED: {
    says: "A change of a durable page is not staged: it was committed or rejected already, or never existed.",
    tryThis: "Look at `session.writeback.pending`, and at the journal's writeback records for the reason.",
  },
  WRITEBACK_UNREACHABLE: {
    says: "Durable pages could not be committed. What is staged stays staged; nothing is reported as durable.",
    tryThis: "Make the store reachable and commit again; the cause says what failed.",
  },

  BOUNDARY_REFUSED: {
    says: "Context was about to be given up while changes of durable pages could not be committed. Nothing was given up.",
    tryThis: "Make the store reachable and try again; the cause says what failed. What is staged stays staged.",
  },
  SUMMARY_TOO_LONG: {
    says: "A summariser was given more than it can read.",
    tryThis: "Throw this in a summariser of your own: it is asked again with less.",
  },
  ASIDE_FAILED: {
    says: "A model that was asked for a shorter text or a summary did not answer with one.",
    tryThis: "Look at the reason. Nothing is lost: what is made without a model stands in its place.",
  },
  SUMMARY_FAILED: {
    says: "A conversation could not be summarised, so nothing was compacted. Everything is as it was.",
    tryThis: "Look at the cause; compact again, or with another summariser.",
  },

  // stores
  STORE_EMPTY_FILE: {
    says: "The store file is empty, so it is not a store. Nothing was written.",
    tryThis:
      "Where a file of its name and -wal lies beside it, get the records out of that first: `holdfast verify FILE --salvage OUT`. Then restore it from a backup, or remove both to start anew; a disk that was full leaves such files.",
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
    tryThis: "Upgrade holdfast, or repair the file with `holdfast verify --salvage`.",
  },
  STORE_DAMAGED: {
    says: "The store file is damaged.",
    tryThis:
      "Run `holdfast verify --salvage` to get every record that can be proven; keep the damaged file until you have.",
  },
  STORE_NOT_DURABLE: {
    says: "The store could not be put into the durability class that was asked for.",
    tryThis:
      'Use a local disk, or ask for durability "process" if losing the newest records on power loss is acceptable.',
  },
  STORE_ON_NETWORK: {
    says: "The store lies on a network file system, where SQLite's write-ahead log is not safe.",
    tryThis:
      'Move the store to a local disk, or pass `network: "rollback-journal"` to use the slower journal that needs no shared memory.',
  },
  STORE_ENGINE_MISSING: {
    says: "This Node brings no SQLite, so nothing can be kept in a file. What needs no store works: doctor, `holdfast/history`.",
    tryThis: "Use Node 22.18 or newer without --no-experimental-sqlite, or pass `driver: betterSqlite3(Database)`.",
  },
  STORE_ENGINE_TOO_OLD: {
    says: "This SQLite has a bug that can corrupt a write-ahead log used by several processes.",
    tryThis: "Use a Node that brings SQLite 3.51.3 or newer, or let one process at a time have the store.",
  },
  STORE_OTHER_ENGINE: {
    says: "This process has the store open through another copy of SQLite. The two would free each other's locks.",
    tryThis: "Use one driver for a store in all threads of a process, or close the other store first.",
  },
  STORE_BUSY: {
    says: "The store stayed busy for too long.",
    tryThis: "Try again; if it persists, look for a long transaction in another process, or for reads inside reads.",
  },
  STORE_SHARED: {
    says: "Somebody else has the store open, and may still know what is damaged in it. Nothing was given up.",
    tryThis: "Close everything else that uses the store, and try again.",
  },
  STORE_FULL: {
    says: "The disk is full. The write is not acknowledged.",
    tryThis: "Free space, then try again; what was acknowledged before is intact.",
  },
  STORE_READONLY: {
    says: "The store cannot be written. The write is not acknowledged.",
    tryThis: "Check the file's and folder's permissions and whether the disk is mounted read-only.",
  },
  STORE_IO: {
    says: "The operating system failed a read or write of the store. Nothing is acknowledged.",
    tryThis: "Check the disk, then try again; what was acknowledged before is intact.",
  },
  STORE_CLOSED: {
    says: "The store is closed.",
    tryThis: "Open it again before using it.",
  },
  STORE_GONE: {
    says: "The store's file or its log was removed, replaced or moved while it was open. What was not acknowledged by then may be lost.",
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
    says: "A text is not the name of stored content.",
    tryThis: "Use names exactly as they were returned when the content was put.",
  },
  BLOB_BAD_SOURCE: {
    says: "Content came as something else than bytes. Nothing was kept.",
    tryThis: "Pass a Uint8Array, or an iterable or stream of them; encode text first, e.g. with `Buffer.from(text)`.",
  },
  BLOB_BAD_RANGE: {
    says: "A range lies outside the content.",
    tryThis: "Ask for a range between 0 and the content's size.",
  },

  // sessions and journals
  SESSION_BAD_ID: {
    says: "A session id has an unusable form.",
    tryThis: "Use 1 to 200 characters: letters, digits, dot, dash, underscore, colon; not starting with a dot.",
  },
  SESSION_UNKNOWN: {
    says: "There is no session with this id.",
    tryThis: "List the sessions (`holdfast sessions`); a program makes a new one with `create: true`.",
  },
  SESSION_EXISTS: {
    says: "A session with this id exists already.",
    tryThis: "Open it, or choose another id.",
  },
  SESSION_BUSY: {
    says: "Another process is writing this session.",
    tryThis: "Wait until it closes, look at it without opening it (`look`, `holdfast show`), or fork it.",
  },
  SESSION_DAMAGED: {
    says: "The session cannot be opened because acknowledged records are missing or do not fit together.",
    tryThis:
      "Run `holdfast verify --salvage` to get every record that can be proven; `holdfast delete --damaged` then gives up a session that cannot be read at all.",
  },
  SESSION_SOUND: {
    says: "The session is not damaged, or what was kept of it proves how it was. It was not given up.",
    tryThis:
      "Open it, which puts it right, or delete it like any other; if that is refused, give up first the sessions that nothing proves.",
  },
  SESSION_NEEDED: {
    says: "Other sessions need this one. Nothing was deleted.",
    tryThis: "Delete those that the details name first.",
  },
  SESSION_NOT_FOLLOWED: {
    says: "The session's state changed in ways that only the program which wrote it can follow. Nothing was changed.",
    tryThis: "Do this in the program that declares the session's parts; reading the session works everywhere.",
  },
  SESSION_FULL: {
    says: "The session has used up its sequence numbers.",
    tryThis: "Fork the session and go on there.",
  },
  FORK_INCOMPLETE: {
    says: "The records this session inherits are not all there.",
    tryThis: "Restore the session it was forked from, or run `holdfast verify --salvage`.",
  },
  FORK_UNFINISHED: {
    says: "The fork was begun, and its maker ended before its mode and its files were in place.",
    tryThis: "Fork again under the same name, which makes it anew, or delete it (`holdfast delete`).",
  },
  FORK_LEFT_BEHIND: {
    says: "A fork failed, and what there was of it could not be taken away again.",
    tryThis: "Look at both causes; then fork again under the same name, or delete it (`holdfast delete`).",
  },
  FORK_POINT_UNKNOWN: {
    says: "The session has no such record to fork after.",
    tryThis: "Choose a sequence number between the oldest kept record and the newest one.",
  },
  LEASE_LOST: {
    says: "Another writer has taken this session over. Nothing was written.",
    tryThis: "Open the session again to continue from what the other writer left.",
  },
  HEAD_MOVED: {
    says: "The session has grown since this writer last looked. Nothing was written.",
    tryThis: "Open the session again; a second writer used the same lease, which should not happen.",
  },
  OUTPUT_FAILED: {
    says: "Standard output cannot be written, so what was asked for was not told in full.",
    tryThis: "Make room where the output goes, or send it elsewhere, and give the command again.",
  },
  JOURNAL_CLOSED: {
    says: "The journal is closed.",
    tryThis: "Open the session again.",
  },
  LOCK_HELD: {
    says: "Another process holds this lock.",
    tryThis: "Wait until it ends; the lock is freed by its death, not by time.",
  },

  // state
  SLICE_EVENT_UNKNOWN: {
    says: "A slice has no reducer for this event.",
    tryThis: "Dispatch what the slice's own event makers return.",
  },
  SLICE_NOT_JSON: {
    says: "A reducer returned a value that cannot be kept as JSON.",
    tryThis: "Keep plain data in slices; convert dates, maps and class instances in the reducer.",
  },
  SLICE_INVALID: {
    says: "A whole value does not pass its slice's schema. Nothing was changed.",
    tryThis: "Correct the value, or lift old values before they are loaded.",
  },
  STATE_INSIDE_CALL: {
    says: "A tool's handler asked the state to change outside its call. Nothing was changed.",
    tryThis: "Inside a handler use the call it was given: `call.dispatch`, `call.files`, `call.run`.",
  },
  SLICE_UNKNOWN: {
    says: "This state has no slice or part of that name.",
    tryThis: "List the slice where the state is created.",
  },
  PART_RESERVED: {
    says: "A call tried to change a part of the state that is the kernel's own.",
    tryThis:
      "Use what the call's handle offers for it: files, resources, commands. The mode is set from outside a call.",
  },
  SLICE_EXISTS: {
    says: "Two parts of the state have the same name.",
    tryThis: "Give each slice and resource a name of its own.",
  },
  REDUCER_FAILED: {
    says: "A reducer threw. Nothing was changed.",
    tryThis: "Make the reducer total: it must return a value for every payload that its event makers accept.",
  },
  SNAPSHOT_MISMATCH: {
    says: "A snapshot does not fit this state. Nothing was changed.",
    tryThis: "Register the slices and resources named in the details, or restore only those that are known.",
  },
  SNAPSHOT_CORRUPT: {
    says: "A snapshot is damaged or was altered. Nothing was changed.",
    tryThis: "Use another checkpoint; this one cannot be trusted.",
  },
  SNAPSHOT_TOO_NEW: {
    says: "A snapshot was written by a newer schema.",
    tryThis: "Upgrade holdfast, or restore an older checkpoint.",
  },
  RESTORE_FAILED: {
    says: "A resource refused to be restored.",
    tryThis: "See both causes; if the session is poisoned, open it again.",
  },
  STATE_POISONED: {
    says: "A restore failed halfway or a commit could not be written, so the state can no longer be trusted. No further call is run.",
    tryThis: "Open the session again: it starts from what was committed.",
  },
  RESOURCE_UNKNOWN: {
    says: "There is no resource under this key.",
    tryThis: "Register it where the state is created, or pass a default.",
  },
  CHECKPOINT_UNKNOWN: {
    says: "There is no checkpoint for this call.",
    tryThis: "List the checkpoints (`holdfast show SESSION`); only the newest are kept.",
  },

  CHECKPOINT_REWOUND: {
    says: "The call was taken back by a rewind, so there is no way back to it.",
    tryThis: "Choose a call that still counts, or fork the session at a record before the rewind.",
  },
  CALLS_OPEN: {
    says: "Calls are still running. Nothing was changed.",
    tryThis: "Wait until they have ended, or abort them.",
  },

  // files
  FILE_BAD_PATH: {
    says: "A path leaves the workspace or cannot be a path. Nothing was changed.",
    tryThis: "Use a relative path below the root, without `..`.",
  },
  FILE_NOT_FOUND: {
    says: "There is nothing at this path.",
    tryThis: "List the folder to see what is there.",
  },
  FILE_EXISTS: {
    says: "There is something at this path already. Nothing was changed.",
    tryThis: "Delete it first, or choose another path.",
  },
  FILE_IS_FOLDER: {
    says: "The path is a folder that cannot be read, replaced or removed like a file.",
    tryThis: "Name a file, or delete with `recursive: true`.",
  },
  FILE_NOT_FOLDER: {
    says: "A file stands where a folder is needed.",
    tryThis: "Choose another path, or delete the file first.",
  },
  FILE_NOT_TEXT: {
    says: "The file is not UTF-8 text.",
    tryThis: "Read it as bytes: as text it would come back changed.",
  },
  FILE_TEXT_BROKEN: {
    says: "The text holds half of a character, a lone surrogate, which no file in UTF-8 can hold. Nothing was written.",
    tryThis: "Write the whole character, or `text.toWellFormed()` when U+FFFD may stand in its place.",
  },
  FILE_SPECIAL: {
    says: "The path is a pipe, a socket or a device, which has no content to read, keep or bring back.",
    tryThis: "Leave it to a tool that is declared as reaching outside.",
  },
  EXEC_UNAVAILABLE: {
    says: "There is no folder of the system in which a command could run.",
    tryThis:
      "Open the session with a `workspace` that it may write; files in memory and read-only forks run no commands.",
  },
  EXEC_NOT_ALLOWED: {
    says: "The tool is not declared as one that runs commands. Nothing was started.",
    tryThis:
      'Define it with `access: "execute"`, or with `access: "external"` for commands in the background, so that plan mode and retries know.',
  },
  EXEC_NOT_COVERED: {
    says: "Something in the workspace could not be kept or brought back, so nothing of the command was kept.",
    tryThis:
      'Move what is named out of the workspace, a store also into `.holdfast`, give another name to what is reserved, or raise the limit it is over; `uncovered: "report"` runs the command all the same and only tells.',
  },
  EXEC_NOT_STARTED: {
    says: "The command could not be started.",
    tryThis: "Check that the shell exists and that the system allows more processes; the cause says what it refused.",
  },
  EXEC_NO_DRIVER: {
    says: "The protection that was asked for does not work here.",
    tryThis: 'Leave `exec.driver` at "auto", or ask for "portable"; the details say what was refused.',
  },
  EXEC_LAYER_LOST: {
    says: "The process that holds the layer in which commands write was ended from outside, so what they did is not known. Nothing of it was kept.",
    tryThis:
      "Run the command again. If it happens again, look for what ends processes here: a system out of memory, a watchdog, or the command itself.",
  },
  EXEC_BUSY: {
    says: "A command changes the files of this workspace in place, and nobody else may until it has ended.",
    tryThis: "Wait for the command to end, then try again.",
  },
  EXEC_NOT_UNDONE: {
    says: "What a command had changed could not be brought back completely.",
    tryThis:
      "Look at the paths in the details and in `.holdfast/workspace/rescue`, free what is in the way, and open the session again: it goes on. Or remove `.holdfast/workspace/exec` to go on with the files as they are.",
  },
  EXEC_SAVEPOINT: {
    says: "A command ran after the savepoint, and what it changed can only be undone with the whole call.",
    tryThis: "Fail the call instead of rolling back a part of it, or run the command in a call of its own.",
  },
  RESOURCE_SAVEPOINT: {
    says: "The call has a resource alone, and what a part of it made of it cannot be rolled back at once, or by itself.",
    tryThis: "Use `await call.transaction(work)`, one at a time, which waits for the resource, or fail the call.",
  },
  CHILD_SAVEPOINT: {
    says: "A child that worked for a part of the call could not be taken back with that part.",
    tryThis: "See `stuck` for what it said; the call fails as a whole, and the child's work is there to be looked at.",
  },
  SAVEPOINT_VOID: {
    says: "It belongs to a part of the call that was rolled back.",
    tryThis: "Take a new savepoint after a rollback, and await whatever a transaction starts before it ends.",
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
    says: "The system does not allow this to be read.",
    tryThis: "Check who owns it and its permissions, or leave it out.",
  },
  FILE_NOT_WRITABLE: {
    says: "The system does not allow a change in this folder. Nothing was changed.",
    tryThis: "Check the folder's permissions and whether its file system is mounted read-only.",
  },
  FILE_OTHER_DEVICE: {
    says: "The folder lies on another file system than the workspace, where files cannot be moved aside. Nothing was changed.",
    tryThis: "Open that folder as a workspace of its own.",
  },
  WORKSPACE_NO_LINKS: {
    says: "The file system of the workspace has no hard links, without which a new file could replace somebody else's. Nothing was changed.",
    tryThis: "Move the workspace to a file system that has them; FAT, exFAT and some network shares have none.",
  },
  FILE_GONE: {
    says: "What files held at that point is nowhere any more: a command wrote them, which is not copied, and somebody else has changed them since.",
    tryThis:
      "Put the files back as they were, begin at a point before the command, or fork after a later call that changed them.",
  },
  FILE_NOT_COVERED: {
    says: "The folder holds something that could not be brought back. Nothing was changed.",
    tryThis: "Remove what is named by hand, or name the files to change one by one.",
  },
  FILE_CHANGE_TOO_LARGE: {
    says: "One call would change more than its limit of paths or bytes. Nothing was changed.",
    tryThis: "Change less at once, or raise `workspace.limits`.",
  },
  FILES_READ_ONLY: {
    says: "This session may read the workspace and not change it.",
    tryThis: 'Fork with `workspace: "memory"` or with a folder of its own.',
  },
  WORKSPACE_BUSY: {
    says: "Another process is using this workspace. Nothing was changed.",
    tryThis: "Close the other session first. The lock goes with its process, also when that is killed.",
  },
  WORKSPACE_ROOT_REFUSED: {
    says: "This folder is refused as a workspace: it is a home folder, the root of a file system, or holds very many files.",
    tryThis: "Name a project folder, or set `workspace: { root, anyRoot: true }` if this one is meant.",
  },
  WORKSPACE_UNUSABLE: {
    says: "The workspace cannot be used as it is.",
    tryThis:
      "Look at the details: the folder must exist, and `.holdfast` in it must be a folder that this process may write.",
  },
  WORKSPACE_FOREIGN: {
    says: "This workspace belongs to another session or another store.",
    tryThis: "Open it with the store that it names, or fork the session into a workspace of its own.",
  },
  WORKSPACE_NEEDED: {
    says: "The session changed files of a folder that was not named here. Nothing was changed.",
    tryThis:
      "Name the folder it works in (`workspace`, or `--workspace` on the command line), or leave its files out with the scope.",
  },
  WORKSPACE_NEEDS_LOCKS: {
    says: "This store cannot keep two processes out of one workspace.",
    tryThis: "Use an embedded store such as `sqlite(…)` together with `workspace`.",
  },
  WORKSPACE_PENDING: {
    says: "Files that were decided could not be put in place yet. No further file is changed until they are.",
    tryThis: "Free what stands in the way (a full disk, a permission), then go on: it is tried again by itself.",
  },
  WORKSPACE_IO: {
    says: "The system could not read or write the workspace.",
    tryThis: "Look at the system's own code in the details.",
  },
  FILE_TOO_LARGE: {
    says: "The file is larger than the limit. Nothing was written.",
    tryThis: "Split it, or keep it outside the workspace.",
  },

  // calls
  CALL_NOT_WAITING: {
    says: "No call of that id waits for a reply. Nothing was changed.",
    tryThis: "Look at `session.waiting`; it may have been answered, or closed when the user went on.",
  },
  ASK_FAILED: {
    says: "Whoever was to ask somebody about a waiting call failed. Nothing was replied to it.",
    tryThis:
      "Look at the cause: it is what the `ask` of the run threw. Reply with `session.reply`, or run again with no input to be asked again.",
  },
  PRICE_FAILED: {
    says: "What an answer cost is not known: the `price` of the run's limits threw, or answered no amount.",
    tryThis:
      "Look at the cause, or at the value in the details. A run with a bound of `cost` has met it; mend `price` and run again.",
  },
  REPLY_MISFIT: {
    says: "The reply does not fit what the call waits for. It still waits.",
    tryThis:
      "Give `approve`, true or false, to a call that waits for consent, and `answer`, as JSON, to one that waits for an answer.",
  },
  TURN_RUNNING: {
    says: "A turn of this session is running. Nothing was changed.",
    tryThis: "Follow its events to the end, or stop it with its signal, and try again.",
  },
  CALL_CLOSED: {
    says: "The call has ended. Nothing was changed.",
    tryThis: "Finish the work before the handler returns, and stop when its signal aborts.",
  },
  CALL_OPEN: {
    says: "A call with this id is open already.",
    tryThis: "End it first, or give the new call an id of its own.",
  },
  CALL_ENDED: {
    says: "A call with this id has ended here, and can still be returned to.",
    tryThis: "Give every call an id of its own, or none in a session; hand a provider's id over as its alias.",
  },
  CALL_BAD_ID: {
    says: "The id of a call is empty, no text, or holds half a character.",
    tryThis: "Use well-formed text, or give no id in a session; hand a provider's id over as its alias.",
  },
  CALL_REFUSED: {
    says: "The call may not run: its arguments, a policy or a deadline forbid it, or it was aborted. It is closed, and nothing was changed.",
    tryThis: "Tell the model the reason in the details.",
  },
  TRANSACTIONS_EXIST: {
    says: "This state has its transactions already.",
    tryThis: "Use the ones it has: `Transactions.of(state)`.",
  },
  EFFECTS_STAND: {
    says: "Calls that would be taken back did something outside, and nothing here can undo it. Nothing was changed.",
    tryThis: "Rewind in the program that declares how to undo it, or leave it as it is with `--leave-effects`.",
  },
  EFFECT_BAD_KEY: {
    says: "The name or the key of an effect is no text, or holds half a character, and could not be found again.",
    tryThis: "Use well-formed text, such as an id or a hash.",
  },
  EFFECT_KEY_SECRET: {
    says: "The key of an effect holds a secret, and keys are kept.",
    tryThis: "Use an id or a hash as the key; hand the secret over in the arguments.",
  },
  EFFECT_UNDECLARED: {
    says: "The tool declares no such effect. Nothing was done.",
    tryThis: "Declare it in the tool's `effects`, so that it can be journalled and undone.",
  },
  EFFECT_UNKNOWN: {
    says: "An effect with this key began and never reported its end: it may have happened.",
    tryThis: "Find out whether it happened; then use a new key to do it again, or leave it.",
  },
  BUDGET_EXCEEDED: {
    says: "A budget is used up.",
    tryThis: "Raise the limit named in the details, or end the run.",
  },
  EVALUATION_ENDED: {
    says: "The evaluation's deadline has passed.",
    tryThis: "Give the run more time, or less to do.",
  },

  // history and wire
  RECOVERY_OFF: {
    says: "The session was cut off, and recovering it is switched off. It was not opened, and nothing was changed.",
    tryThis: "Look at it with `holdfast show`; `auto_recover_from_crash = true` closes what was cut off and goes on.",
  },
  HISTORY_INVALID: {
    says: "The history breaks a pairing invariant. Nothing was sent.",
    tryThis: "Repair it with `normalize(items)`, or read every fault in the report that is this error's cause.",
  },
  HISTORY_CALLS_OPEN: {
    says: "Calls are still running, and no provider takes a call without its output. Nothing was sent.",
    tryThis: "Wait for them, settle them, or give them a deadline; `enforce_history_invariants = false` sends anyway.",
  },
  MESSAGES_UNREADABLE: {
    says: "Messages could not be read in the format that was named.",
    tryThis: "Pass an array of plain messages in that format; the place and the reason are in the details.",
  },

  // prompt and catalog
  PROMPT_INVALID: {
    says: "A prompt cannot be defined as it is.",
    tryThis: "Correct the section named in the details.",
  },
  PROMPT_MISALIGNED: {
    says: "Prompt, tools and mode of a request do not agree. Nothing was sent.",
    tryThis: "Read the faults in the details; `sendMisaligned` with a reason sends it all the same, and records that.",
  },
  MODE_INHERITED: {
    says: "The session works for another one that is in plan mode, so it stays in plan mode.",
    tryThis: "Set the mode of the parent session first.",
  },

  // models
  REQUEST_MALFORMED: {
    says: "The request breaks what its provider demands. Nothing was sent.",
    tryThis: "Repair the history with `normalize(items, { profile, tools })`; every fault is in this error's cause.",
  },
  MODEL_FAILED: {
    says: "The model did not answer.",
    tryThis: "Read `kind`, `retryable` and `retryAfterMs` in the details; what was said so far is in the cause.",
  },
  MODEL_UNFINISHED: {
    says: "The model's events ended without `end` or `failed`, so nobody knows whether it answered.",
    tryThis: "Run `adapterLaws` over the adapter, which breaks its contract.",
  },
  SDK_MISSING: {
    says: "An optional package that this needs is not installed.",
    tryThis: "Install the package named in the details; where it is a provider's SDK, you can pass a `client` instead.",
  },
  SCRIPT_INVALID: {
    says: "A script has a step that is none.",
    tryThis: "Correct the step named in the details; counting starts at 0.",
  },
  SCRIPT_EXHAUSTED: {
    says: "The script was asked more often than it has answers.",
    tryThis: "Add steps, or use a function; a loop that asks on and on is a fault of its own.",
  },

  // hosts
  TOOL_NAME_TAKEN: {
    says: "Two tools would have one name, and nobody would know which of them runs.",
    tryThis: "Rename one of them; tools of a server get other names with `prefix`.",
  },
  MCP_LIST_ENDLESS: {
    says: "A server's list of tools has no end.",
    tryThis: "Tell its maker: it answers every page with the address of a further one.",
  },

  // other people's sessions
  TRANSCRIPT_UNREADABLE: {
    says: "A file cannot be read.",
    tryThis: "Check that it exists, is a file and not a pipe or a device, and that you may read it.",
  },
  TRANSCRIPT_UNKNOWN: {
    says: "A file is not a session in any format we know.",
    tryThis: "Name its format with `--format`, or check that it is the session itself and not an index beside it.",
  },
  TRANSCRIPT_BUSY: {
    says: "A file is being written by somebody else. It was not repaired.",
    tryThis: "Close the program that writes it, wait a few seconds, then try again.",
  },
  TRANSCRIPT_NOT_REPAIRED: {
    says: "A repair did not come out whole. The file was left as it was.",
    tryThis: "Report it with the findings of `holdfast doctor --json`; the file was not touched.",
  },
  TRANSCRIPT_NOT_WRITTEN: {
    says: "A repaired file, or the backup beside it, could not be written. The file was left as it was.",
    tryThis: "Check the permissions of its folder and that the disk has room for two more copies.",
  },
} as const satisfies Record<string, { readonly says: string; readonly tryThis: string }>;

export type ErrorCode = keyof typeof ERROR_CODES;
