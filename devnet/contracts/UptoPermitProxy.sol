// SPDX-License-Identifier: MIT
pragma solidity ^0.8.26;

import {IPermit2, PermitProxy} from "./PermitProxy.sol";

/// @title Settles x402 payments of scheme `upto` by Permit2
/// @notice The facilitator that the payer signed, and nobody else, sends a permit and says how much of it was used.
contract UptoPermitProxy is PermitProxy {
    /// @notice What the payer signs besides the permit.
    struct Witness {
        address to;
        address facilitator;
        uint256 validAfter;
    }

    /// @notice The rest of the signed type, from the witness on.
    string public constant WITNESS_TYPE_STRING =
        "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,address facilitator,uint256 validAfter)";

    bytes32 public constant WITNESS_TYPEHASH =
        keccak256("Witness(address to,address facilitator,uint256 validAfter)");

    /// @notice More was asked for than is permitted.
    error AmountExceedsPermitted();

    /// @notice The payer signed that another account sends it.
    error UnauthorizedFacilitator();

    /// @notice Moves as much as was used of what was signed.
    /// @param permit The token, how much of it at most, the payer's nonce and until when.
    /// @param amount How much, in base units.
    /// @param owner Who pays, and signed.
    /// @param witness Whom, by whom it is sent, and since when.
    /// @param signature Over the permit with this contract as spender, in Permit2's EIP-712 domain.
    function settle(
        IPermit2.PermitTransferFrom calldata permit,
        uint256 amount,
        address owner,
        Witness calldata witness,
        bytes calldata signature
    ) external nonReentrant {
        require(msg.sender == witness.facilitator, UnauthorizedFacilitator());
        require(amount <= permit.permitted.amount, AmountExceedsPermitted());
        IPermit2.SignatureTransferDetails memory details = IPermit2.SignatureTransferDetails({
            to: witness.to,
            requestedAmount: amount
        });
        bytes32 hash = keccak256(abi.encode(WITNESS_TYPEHASH, witness.to, witness.facilitator, witness.validAfter));
        _settle(permit, details, owner, witness.validAfter, hash, WITNESS_TYPE_STRING, signature);
    }
}
