// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {IERC1271} from "@openzeppelin/contracts/interfaces/IERC1271.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @title A contract wallet that makes several calls in one transaction
/// @notice Represents wallets that batch calls (safes, smart accounts): its payments reach the token as inner calls, and
/// its signatures are verified by EIP-1271.
contract BatchWallet is IERC1271 {
    struct Call {
        address target;
        bytes data;
    }

    /// @notice The account that may spend and sign for this wallet.
    address public immutable owner;

    /// @notice Only the owner may do this.
    error NotOwner(address caller);

    /// @param owner_ The account that may spend and sign for this wallet.
    constructor(address owner_) {
        owner = owner_;
    }

    /// @notice Makes the calls in order; if one fails, all are reverted.
    /// @param calls The targets and their calldata.
    function execute(Call[] calldata calls) external {
        require(msg.sender == owner, NotOwner(msg.sender));
        for (uint256 i = 0; i < calls.length; i++) {
            (bool ok, bytes memory reason) = calls[i].target.call(calls[i].data);
            if (!ok) {
                assembly ("memory-safe") {
                    revert(add(reason, 32), mload(reason))
                }
            }
        }
    }

    /// @inheritdoc IERC1271
    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        (address signer, ECDSA.RecoverError problem, ) = ECDSA.tryRecover(hash, signature);
        return
            problem == ECDSA.RecoverError.NoError && signer == owner ? IERC1271.isValidSignature.selector : bytes4(0xffffffff);
    }
}
